/* SPDX-License-Identifier: Apache-2.0 */
/* Scopes of names: of the model, of functions, of graphs in nodes. */
#include "ingest/onnx/translate_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

enum { MAX_SCOPES = 32 }; /* functions in functions, graphs in graphs */

mo_status mo_onnx_scope_open(mo_onnx_translation *t, mo_onnx_scope *scope)
{
    if (t->depth == MAX_SCOPES)
        return mo_fail_at(t->err, MO_E_LIMIT, t->file, 0,
                          "functions or graphs are nested more than %d deep",
                          MAX_SCOPES);
    scope->names = mo_intern_new(mo_onnx_builder_arena(t->b));
    t->depth++;
    return scope->names ? MO_OK : mo_fail_memory(t->err);
}

void mo_onnx_scope_close(mo_onnx_translation *t, mo_onnx_scope *scope)
{
    t->depth -= scope->names != NULL;
    mo_intern_free(scope->names);
    mo_intern_free(scope->infos);
    free(scope->info_of);
    free(scope->bindings);
}

mo_status mo_onnx_scope_check_new(mo_onnx_translation *t,
                                  const mo_onnx_scope *scope, const char *name)
{
    if (mo_intern_find(scope->names, name, strlen(name)) < 0)
        return MO_OK;
    return mo_fail_at(t->err, MO_E_INPUT, t->file, 0,
                      "tensor '%.80s' is made twice; every name is of one "
                      "tensor",
                      name);
}

mo_status mo_onnx_scope_bind(mo_onnx_translation *t, mo_onnx_scope *scope,
                             const char *name, mo_onnx_binding what)
{
    int number;
    mo_status status =
        mo_intern_put(scope->names, name, strlen(name), &number, t->err);

    if (status == MO_OK)
        status = mo_array_reserve((void **) &scope->bindings, &scope->room,
                                  (size_t) number + 1, sizeof *scope->bindings,
                                  t->err);
    if (status == MO_OK)
        scope->bindings[number] = what;
    return status;
}

mo_onnx_binding *mo_onnx_scope_find(const mo_onnx_scope *scope,
                                    const char *name)
{
    for (; scope; scope = scope->outer) {
        int number = mo_intern_find(scope->names, name, strlen(name));

        if (number >= 0)
            return &scope->bindings[number];
    }
    return NULL;
}

/* The value of a bound name; tensors become constants when they are read. */
mo_onnx_ref mo_onnx_scope_read(mo_onnx_translation *t, mo_onnx_binding *bound,
                               const char *name)
{
    if (bound->tensor) {
        bound->value = mo_onnx_constant(t->b, bound->tensor, name);
        if (mo_onnx_is(bound->value))
            bound->tensor = NULL;
    }
    return bound->value;
}

mo_status mo_onnx_scope_bind_weights(mo_onnx_translation *t,
                                     mo_onnx_scope *scope,
                                     const mo_onnx_graph *g)
{
    mo_status status = MO_OK;

    if (g->is_sparse)
        return mo_fail_at(t->err, MO_E_SUPPORT, t->file, 0,
                          "weights are sparse; save the model with dense ones");
    for (size_t i = 0; i < g->n_initializers && status == MO_OK; i++) {
        const mo_onnx_tensor *tensor = &g->initializers[i];

        status = mo_onnx_scope_check_new(t, scope, tensor->name);
        if (status == MO_OK)
            status = mo_onnx_scope_bind(
                t, scope, tensor->name,
                (mo_onnx_binding){ .value = MO_ONNX_NONE, .tensor = tensor });
    }
    return status;
}

mo_onnx_ref mo_onnx_scope_result(mo_onnx_translation *t,
                                 const mo_onnx_scope *scope, const char *name)
{
    mo_onnx_binding *bound = mo_onnx_scope_find(scope, name);

    return bound ? mo_onnx_scope_read(t, bound, name) : MO_ONNX_NONE;
}

static const mo_onnx_attribute *find_attribute(const mo_onnx_attribute *list,
                                               size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(list[i].name, name) == 0)
            return &list[i];
    return NULL;
}

const mo_onnx_attribute *mo_onnx_scope_attribute(const mo_onnx_scope *scope,
                                                 const mo_onnx_node *node,
                                                 const char *name)
{
    const mo_onnx_attribute *a =
        find_attribute(node->attributes, node->n_attributes, name);

    while (a && a->reference[0]) {
        const char *key = a->reference;
        const mo_onnx_function *f;

        while (scope && !scope->call)
            scope = scope->outer;
        if (!scope)
            return NULL;
        f = scope->function;
        a = find_attribute(scope->call->attributes, scope->call->n_attributes,
                           key);
        if (!a)
            a = find_attribute(f->defaults, f->n_defaults, key);
        scope = scope->caller;
    }
    return a;
}

bool mo_onnx_is_own_domain(const char *domain)
{
    return domain[0] == '\0' || strcmp(domain, "ai.onnx") == 0;
}

/* The type and shape that the file gives a name of the scope's graph. */
const mo_onnx_info *mo_onnx_scope_info(mo_onnx_translation *t,
                                       mo_onnx_scope *scope, const char *name)
{
    const mo_onnx_graph *g = scope->graph;
    int number;

    if (!g)
        return NULL;
    if (!scope->infos) {
        scope->infos = mo_intern_new(mo_onnx_builder_arena(t->b));
        scope->info_of =
            calloc(g->n_infos + g->n_outputs + 1, sizeof *scope->info_of);
        for (size_t i = 0; i < g->n_infos + g->n_outputs; i++) {
            const mo_onnx_info *info =
                i < g->n_infos ? &g->infos[i] : &g->outputs[i - g->n_infos];

            if (!scope->infos || !scope->info_of ||
                mo_intern_put(scope->infos, info->name, strlen(info->name),
                              &number, NULL) != MO_OK)
                return NULL;
            scope->info_of[number] = info;
        }
    }
    if (!scope->infos || !scope->info_of)
        return NULL;
    number = mo_intern_find(scope->infos, name, strlen(name));
    return number >= 0 ? scope->info_of[number] : NULL;
}
