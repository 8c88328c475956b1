/* SPDX-License-Identifier: Apache-2.0 */
/* Translation of the nodes of a graph, in the order of the file. */
#include "ingest/onnx/translate_internal.h"
#include "ingest/onnx/translators.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OLDEST_OPSET = 7, NEWEST_OPSET = 28 };

static const mo_onnx_function *find_function(const mo_onnx_translation *t,
                                             const mo_onnx_node *node)
{
    for (size_t i = 0; i < t->model->n_functions; i++)
        if (strcmp(t->model->functions[i].name, node->op_type) == 0 &&
            strcmp(t->model->functions[i].domain, node->domain) == 0)
            return &t->model->functions[i];
    return NULL;
}

static int version_of(const mo_onnx_scope *scope, const char *domain)
{
    for (size_t i = 0; i < scope->n_opsets; i++)
        if (strcmp(scope->opsets[i].domain, domain) == 0 ||
            (mo_onnx_is_own_domain(scope->opsets[i].domain) &&
             mo_onnx_is_own_domain(domain)))
            return scope->opsets[i].version > 0 &&
                           scope->opsets[i].version < 1000
                       ? (int) scope->opsets[i].version
                       : 1;
    return 1;
}

static const char *node_title(const mo_onnx_node *node)
{
    if (node->name[0])
        return node->name;
    for (size_t i = 0; i < node->n_outputs; i++)
        if (node->outputs[i][0])
            return node->outputs[i];
    return node->op_type;
}

/* Notes an operator that cannot be translated, so that one error names all. */
static void note_missing(mo_onnx_translation *t, const mo_onnx_node *node,
                         const char *why)
{
    size_t used = strlen(t->missing);

    if (t->n_missing++ < 8 && used + 60 < sizeof t->missing)
        snprintf(t->missing + used, sizeof t->missing - used,
                 "%s%.40s '%.60s' %.160s", used > 0 ? "; " : "", node->op_type,
                 node_title(node), why);
}

/* Sets the inputs of op; false when one is of a node that was not
 * translated. */
static bool resolve_inputs(mo_onnx_translation *t, mo_onnx_scope *scope,
                           mo_onnx_op *op, mo_onnx_ref *inputs)
{
    for (int i = 0; i < op->n_inputs; i++) {
        const char *name = op->node->inputs[i];
        mo_onnx_binding *bound =
            name[0] ? mo_onnx_scope_find(scope, name) : NULL;

        inputs[i] = MO_ONNX_NONE;
        if (name[0] == '\0')
            continue;
        if (!bound) {
            mo_onnx_wrong(t->b,
                          "reads '%.80s', which no node before it makes: nodes "
                          "must be sorted and have no cycle",
                          name);
            return true;
        }
        if (bound->is_lost)
            return false;
        inputs[i] = mo_onnx_scope_read(t, bound, name);
    }
    return true;
}

void mo_onnx_op_refused(mo_onnx_op *op)
{
    mo_onnx_refuse(op->b, "%s", op->argument);
}

static void check_operands(mo_onnx_op *op, const mo_onnx_row *row)
{
    int n = row->required[op->version < row->required[1] ? 2 : 0];

    for (int i = 0; i < n; i++)
        if (!mo_onnx_has(op, i))
            mo_onnx_wrong(op->b, "has no input %d", i);
    if (op->n_outputs == 0)
        mo_onnx_wrong(op->b, "has no output");
}

static mo_status translate_op(mo_onnx_translation *t, mo_onnx_scope *scope,
                              mo_onnx_op *op)
{
    const mo_onnx_node *node = op->node;
    const mo_onnx_function *f = find_function(t, node);
    const mo_onnx_row *row = NULL;

    if (f)
        return mo_onnx_inline_function(t, scope, op, f);
    row = mo_onnx_find_row(node->op_type, node->domain);
    if (mo_onnx_is_own_domain(node->domain)) {
        if (strcmp(node->op_type, "If") == 0)
            return mo_onnx_take_branch(t, scope, op);
        if (strcmp(node->op_type, "Loop") == 0)
            return mo_onnx_unroll_loop(t, scope, op);
        if (strcmp(node->op_type, "Scan") == 0)
            return mo_onnx_unroll_scan(t, scope, op);
    }
    if (!row) {
        mo_onnx_refuse(t->b, "there is no such operator to run%s%.60s",
                       mo_onnx_is_own_domain(node->domain) ? "" : ", domain ",
                       mo_onnx_is_own_domain(node->domain) ? "" : node->domain);
        return MO_OK;
    }
    op->argument = row->argument;
    check_operands(op, row);
    if (row->translate == mo_onnx_op_nms && op->n_outputs > 0)
        op->declared = mo_onnx_scope_info(t, scope, node->outputs[0]);
    if (mo_onnx_builder_status(t->b) == MO_OK)
        row->translate(op);
    return MO_OK;
}

static mo_status bind_outputs(mo_onnx_translation *t, mo_onnx_scope *scope,
                              const mo_onnx_op *op, bool is_lost)
{
    mo_status status = MO_OK;

    for (int i = 0; i < op->n_outputs && status == MO_OK; i++) {
        const char *name = op->node->outputs[i];

        if (name[0] == '\0')
            continue;
        status = mo_onnx_scope_check_new(t, scope, name);
        if (status == MO_OK)
            status = mo_onnx_scope_bind(
                t, scope, name,
                (mo_onnx_binding){ .value = op->outputs[i],
                                   .is_lost = is_lost ||
                                              !mo_onnx_is(op->outputs[i]) });
    }
    return status;
}

static mo_status translate_node(mo_onnx_translation *t, mo_onnx_scope *scope,
                                const mo_onnx_node *node)
{
    mo_onnx_op op = { .b = t->b,
                      .node = node,
                      .scope = scope,
                      .version = version_of(scope, node->domain),
                      .n_inputs = (int) node->n_inputs,
                      .n_outputs = (int) node->n_outputs };
    size_t room = node->n_inputs + node->n_outputs + 1;
    mo_onnx_ref *refs = calloc(room, sizeof *refs);
    mo_status status = refs ? MO_OK : mo_fail_memory(t->err);
    bool is_lost = false;

    if (status != MO_OK)
        return status;
    op.inputs = refs;
    op.outputs = refs + node->n_inputs;
    for (int i = 0; i < op.n_outputs; i++)
        op.outputs[i] = MO_ONNX_NONE;
    mo_onnx_set_title(t->b, node_title(node));
    if (!resolve_inputs(t, scope, &op, refs))
        is_lost = true;
    else if (mo_onnx_builder_status(t->b) == MO_OK)
        status = translate_op(t, scope, &op);
    if (status == MO_OK && mo_onnx_builder_status(t->b) == MO_E_MEMORY)
        status = mo_fail_memory(t->err);
    if (status == MO_OK && mo_onnx_builder_status(t->b) != MO_OK) {
        char why[200];
        bool can_place = mo_onnx_builder_status(t->b) == MO_E_SUPPORT;

        snprintf(why, sizeof why, "%s", mo_onnx_builder_why(t->b));
        mo_onnx_builder_clear(t->b);
        mo_onnx_set_title(t->b, node_title(node));
        is_lost = !can_place || !mo_onnx_add_opaque(t, scope, &op, why);
        t->lacks_shapes |= can_place && is_lost;
        mo_onnx_builder_clear(t->b);
        if (is_lost)
            note_missing(t, node, why);
    }
    if (status == MO_OK)
        status = bind_outputs(t, scope, &op, is_lost);
    free(refs);
    return status;
}

mo_status mo_onnx_translate_nodes(mo_onnx_translation *t, mo_onnx_scope *scope,
                                  const mo_onnx_node *nodes, size_t n)
{
    mo_status status = MO_OK;

    for (size_t i = 0; i < n && status == MO_OK; i++)
        status = translate_node(t, scope, &nodes[i]);
    return status;
}

static mo_status add_results(mo_onnx_translation *t, mo_onnx_scope *scope,
                             const mo_onnx_graph *g)
{
    for (size_t i = 0; i < g->n_outputs; i++) {
        const char *name = g->outputs[i].name;

        mo_onnx_result(t->b, name, mo_onnx_scope_result(t, scope, name));
        if (mo_onnx_builder_status(t->b) == MO_E_MEMORY)
            return mo_fail_memory(t->err);
        if (mo_onnx_builder_status(t->b) != MO_OK)
            return mo_fail_at(t->err, MO_E_INPUT, t->file, 0,
                              "output '%.80s' %s", name,
                              mo_onnx_builder_why(t->b));
    }
    return MO_OK;
}

/* The version of ONNX's own operators decides what they mean. */
static mo_status check_version(const char *file, const mo_onnx_model *model,
                               mo_error *err)
{
    for (size_t i = 0; i < model->n_opsets; i++)
        if (mo_onnx_is_own_domain(model->opsets[i].domain)) {
            int64_t version = model->opsets[i].version;

            if (version >= OLDEST_OPSET && version <= NEWEST_OPSET)
                return MO_OK;
            return mo_fail_at(err, MO_E_SUPPORT, file, 0,
                              "has operator set %lld of ONNX, not %d to %d; "
                              "convert it with onnx.version_converter",
                              (long long) version, OLDEST_OPSET, NEWEST_OPSET);
        }
    return mo_fail_at(err, MO_E_INPUT, file, 0,
                      "does not say which operator set of ONNX it uses");
}

mo_status mo_onnx_translate(const char *file, const mo_onnx_model *model,
                            const mo_read_options *options, mo_ir **ir,
                            mo_error *err)
{
    static const mo_read_options none = { .shapes = { 0 } };
    const mo_onnx_graph *g = model->graph;
    mo_onnx_translation t = { .file = file, .model = model, .err = err };
    mo_onnx_scope scope = { .graph = g,
                            .opsets = model->opsets,
                            .n_opsets = model->n_opsets };
    mo_status status;

    if (!g || g->n_outputs == 0)
        return mo_fail_at(err, MO_E_INPUT, file, 0,
                          "is no ONNX model, or an empty one: it has no "
                          "outputs");
    status = check_version(file, model, err);
    if (status != MO_OK)
        return status;
    t.b = mo_onnx_builder_new(file);
    status = t.b ? mo_onnx_scope_open(&t, &scope) : mo_fail_memory(err);
    if (status == MO_OK)
        status = mo_onnx_scope_bind_weights(&t, &scope, g);
    if (status == MO_OK)
        status = mo_onnx_add_inputs(&t, &scope, g, options ? options : &none);
    if (status == MO_OK)
        status = mo_onnx_translate_nodes(&t, &scope, g->nodes, g->n_nodes);
    if (status == MO_OK && t.n_missing > 0)
        status = mo_fail_at(
            err, MO_E_SUPPORT, file, 0, "%d ops cannot be read: %s%s%s",
            t.n_missing, t.missing, t.n_missing > 8 ? "; ..." : "",
            t.lacks_shapes ? "; with the shapes of their outputs in "
                             "value_info they can be placed, not run"
                           : "");
    if (status == MO_OK)
        status = add_results(&t, &scope, g);
    if (status == MO_OK)
        status = mo_onnx_builder_finish(t.b, g->name, ir, err);
    mo_onnx_scope_close(&t, &scope);
    mo_onnx_builder_free(t.b);
    return status;
}
