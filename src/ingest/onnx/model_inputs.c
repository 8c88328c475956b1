/* SPDX-License-Identifier: Apache-2.0 */
/* Inputs of the model, with the shapes that the user gives. */
#include "ingest/onnx/translate_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "ingest/infer/dims.h"

/* A request "NAME=1,128", "0=1,128" or "1,128" of an only input. */
static const char *requested_dims(const char *request, const char *name,
                                  int place, bool is_only)
{
    const char *mark = strrchr(request, '=');
    size_t length = mark ? (size_t) (mark - request) : 0;
    int64_t number;

    if (!mark)
        return is_only ? request : NULL;
    if (strlen(name) == length && memcmp(name, request, length) == 0)
        return mark + 1;
    return mo_number_read_int(request, length, &number) == MO_NUMBER_OK &&
                   number == place
               ? mark + 1
               : NULL;
}

static mo_status request_shape(mo_onnx_translation *t,
                               const mo_read_options *options, bool *used,
                               const char *name, int place, bool is_only,
                               mo_shape *shape)
{
    for (size_t i = 0; i < options->n_shapes; i++) {
        const char *request = options->shapes[i];
        const char *dims = requested_dims(request, name, place, is_only);
        mo_shape given;

        if (!dims)
            continue;
        used[i] = true;
        if (mo_shape_read(dims, strlen(dims), &given) != MO_SHAPE_OK)
            return mo_fail(t->err, MO_E_USAGE,
                           "--shape %.120s is not NAME=DIMS, as in input=1,128",
                           request);
        if (shape->rank >= 0 && shape->rank != given.rank)
            return mo_fail_at(t->err, MO_E_USAGE, t->file, 0,
                              "--shape %.120s: input '%.80s' has %d dimensions "
                              "(%s)",
                              request, name, shape->rank,
                              mo_dims_format(shape).text);
        *shape = given;
    }
    return MO_OK;
}

static mo_status add_input(mo_onnx_translation *t, mo_onnx_scope *scope,
                           const mo_onnx_info *info, const mo_shape *shape)
{
    const char *dtype = mo_onnx_dtype_of(info->type);
    mo_shape example = *shape;
    mo_status status;

    if (!info->is_tensor || !dtype)
        return mo_fail_at(t->err, MO_E_SUPPORT, t->file, 0,
                          "input '%.80s' is no tensor of numbers", info->name);
    for (int d = 0; d < example.rank; d++)
        example.dims[d] = example.dims[d] < 0 ? 1 : example.dims[d];
    if (!mo_shape_is_static(shape))
        return mo_fail_at(t->err, MO_E_INPUT, t->file, 0,
                          "input '%.80s' has a dynamic dimension (%s); give it "
                          "a size with --shape %.80s=%s",
                          info->name, mo_dims_format(shape).text, info->name,
                          shape->rank < 0 ? "1,..."
                                          : mo_dims_format(&example).text);
    if (!mo_shape_fits(shape))
        return mo_fail_at(t->err, MO_E_LIMIT, t->file, 0,
                          "input '%.80s' has more than 2^48 elements",
                          info->name);
    status = mo_onnx_scope_check_new(t, scope, info->name);
    if (status != MO_OK)
        return status;
    return mo_onnx_scope_bind(
        t, scope, info->name,
        (mo_onnx_binding){
            .value = mo_onnx_parameter(t->b, info->name, shape, dtype) });
}

/* Fails for a request that names no input. */
static mo_status check_used(mo_onnx_translation *t,
                            const mo_read_options *options, const bool *used)
{
    for (size_t i = 0; i < options->n_shapes; i++)
        if (!used[i])
            return mo_fail_at(t->err, MO_E_USAGE, t->file, 0,
                              "--shape %.120s names no input",
                              options->shapes[i]);
    return MO_OK;
}

/* Initializers that are inputs as well have default values: constants. */
mo_status mo_onnx_add_inputs(mo_onnx_translation *t, mo_onnx_scope *scope,
                             const mo_onnx_graph *g,
                             const mo_read_options *options)
{
    bool *used = calloc(options->n_shapes + 1, sizeof *used);
    mo_shape *shapes = calloc(g->n_inputs + 1, sizeof *shapes);
    bool *given = calloc(g->n_inputs + 1, sizeof *given);
    mo_status status = used && shapes && given ? MO_OK : mo_fail_memory(t->err);
    int place = 0, n = 0;

    for (size_t i = 0; i < g->n_inputs && status == MO_OK; i++) {
        given[i] = mo_onnx_scope_find(scope, g->inputs[i].name) == NULL;
        n += given[i];
        mo_onnx_reserve(t->b, g->inputs[i].name);
    }
    for (size_t i = 0; i < g->n_outputs && status == MO_OK; i++)
        mo_onnx_reserve(t->b, g->outputs[i].name);
    for (size_t i = 0; i < g->n_inputs && status == MO_OK; i++) {
        shapes[i] = g->inputs[i].shape;
        if (given[i])
            status = request_shape(t, options, used, g->inputs[i].name, place++,
                                   n == 1, &shapes[i]);
    }
    if (status == MO_OK)
        status = check_used(t, options, used);
    for (size_t i = 0; i < g->n_inputs && status == MO_OK; i++)
        if (given[i])
            status = add_input(t, scope, &g->inputs[i], &shapes[i]);
    free(used);
    free(shapes);
    free(given);
    return status;
}
