/* SPDX-License-Identifier: Apache-2.0 */
/* Inputs of the model, with the shapes and values that the user gives. */
#include "ingest/onnx/translate_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "ingest/infer/dims.h"
#include "ingest/infer/value_text.h"

/* An input of the model. */
typedef struct model_input {
    const mo_onnx_info *info;
    int place;    /* among those without a default value; -1: it has one */
    bool is_only; /* without a default value */
    mo_shape shape;
    const char *request, *numbers; /* of --value; NULL: none */
} model_input;

/* A request "NAME=1,128", "0=1,128" or "1,128" of an only input: returns what
 * follows the name; NULL for another input. */
static const char *find_request(const char *request, const model_input *input)
{
    const char *mark = strrchr(request, '='), *name = input->info->name;
    size_t length = mark ? (size_t) (mark - request) : 0;
    int64_t number;

    if (!mark)
        return input->is_only ? request : NULL;
    if (strlen(name) == length && memcmp(name, request, length) == 0)
        return mark + 1;
    return input->place >= 0 &&
                   mo_number_read_int(request, length, &number) ==
                       MO_NUMBER_OK &&
                   number == input->place
               ? mark + 1
               : NULL;
}

static mo_status request_shape(mo_onnx_translation *t, const char *request,
                               model_input *input, bool *used)
{
    const char *dims = find_request(request, input);
    mo_shape *shape = &input->shape, given;

    if (!dims || input->place < 0)
        return MO_OK;
    *used = true;
    if (mo_shape_read(dims, strlen(dims), &given) != MO_SHAPE_OK)
        return mo_fail(t->err, MO_E_USAGE,
                       "--shape %.120s is not NAME=DIMS, as in input=1,128",
                       request);
    if (shape->rank >= 0 && shape->rank != given.rank)
        return mo_fail_at(t->err, MO_E_USAGE, t->file, 0,
                          "--shape %.120s: input '%.80s' has %d dimensions "
                          "(%s)",
                          request, input->info->name, shape->rank,
                          mo_dims_format(shape).text);
    *shape = given;
    return MO_OK;
}

static mo_status request_hint(mo_onnx_translation *t, const char *request,
                              model_input *input, bool *used)
{
    const char *dims = find_request(request, input);
    mo_shape given;

    (void) t;
    *used = true;
    if (dims && !input->request && !mo_shape_is_static(&input->shape) &&
        mo_shape_read(dims, strlen(dims), &given) == MO_SHAPE_OK &&
        !mo_dims_contradict(&input->shape, &given))
        input->shape = given;
    return MO_OK;
}

/* An input with a default value may have another one. */
static mo_status request_value(mo_onnx_translation *t, const char *request,
                               model_input *input, bool *used)
{
    const char *numbers = find_request(request, input);

    if (!numbers)
        return MO_OK;
    *used = true;
    if (input->request)
        return mo_fail(t->err, MO_E_USAGE,
                       "--value %.120s: the value of '%.80s' is given twice; "
                       "keep one of them",
                       request, input->info->name);
    input->request = request;
    input->numbers = numbers;
    return MO_OK;
}

typedef mo_status take_request(mo_onnx_translation *t, const char *request,
                               model_input *input, bool *used);

/* Applies each request of an option; one that names no input is an error. */
static mo_status apply_requests(mo_onnx_translation *t, const char *option,
                                const mo_option_list *requests,
                                take_request *take, model_input *inputs,
                                size_t n)
{
    mo_status status = MO_OK;

    for (size_t i = 0; i < requests->count && status == MO_OK; i++) {
        bool used = false;

        for (size_t k = 0; k < n && status == MO_OK; k++)
            status = take(t, requests->items[i], &inputs[k], &used);
        if (status == MO_OK && !used)
            return mo_fail_at(t->err, MO_E_USAGE, t->file, 0,
                              "--%s %.120s names no input", option,
                              requests->items[i]);
    }
    return status;
}

/* Dimensions of one name have one size, if it was given: sets those of an
 * input that have none. */
static void fill_named(const model_input *inputs, size_t n, model_input *input)
{
    const char *const *names = input->info->dim_names;

    for (int d = 0; names && d < input->shape.rank; d++)
        for (size_t k = 0; k < n && names[d]; k++) {
            const mo_onnx_info *of = inputs[k].info;

            for (int i = 0; of->dim_names && i < of->shape.rank; i++)
                if (input->shape.dims[d] < 0 && of->dim_names[i] &&
                    strcmp(of->dim_names[i], names[d]) == 0)
                    input->shape.dims[d] = inputs[k].shape.dims[i];
        }
}

static mo_status check_dynamic(mo_onnx_translation *t, const mo_onnx_info *info,
                               const mo_shape *shape)
{
    mo_shape example = *shape;

    if (mo_shape_is_static(shape))
        return MO_OK;
    for (int d = 0; d < example.rank; d++)
        example.dims[d] = example.dims[d] < 0 ? 1 : example.dims[d];
    return mo_fail_at(
        t->err, MO_E_INPUT, t->file, 0,
        "input '%.80s' has a dynamic dimension (%s); give it "
        "a size with --shape %.80s=%s",
        info->name, mo_dims_format_named(shape, info->dim_names).text,
        info->name, shape->rank < 0 ? "1,..." : mo_dims_format(&example).text);
}

static mo_status add_input(mo_onnx_translation *t, mo_onnx_scope *scope,
                           const model_input *input)
{
    const mo_onnx_info *info = input->info;
    const char *dtype = mo_onnx_dtype_of(info->type);
    mo_infer_value *value = NULL;
    mo_status status;

    if (!info->is_tensor || !dtype)
        return mo_fail_at(t->err, MO_E_SUPPORT, t->file, 0,
                          "input '%.80s' is no tensor of numbers", info->name);
    if (input->request) {
        status = mo_infer_value_read(mo_onnx_builder_arena(t->b),
                                     input->request, input->numbers,
                                     &input->shape, dtype, &value, t->err);
        if (status != MO_OK)
            return status;
        return mo_onnx_scope_bind(
            t, scope, info->name,
            (mo_onnx_binding){ .value = mo_onnx_literal(t->b, value) });
    }
    status = check_dynamic(t, info, &input->shape);
    if (status != MO_OK)
        return status;
    if (!mo_shape_fits(&input->shape))
        return mo_fail_at(t->err, MO_E_LIMIT, t->file, 0,
                          "input '%.80s' has more than 2^48 elements",
                          info->name);
    status = mo_onnx_scope_check_new(t, scope, info->name);
    if (status != MO_OK)
        return status;
    return mo_onnx_scope_bind(
        t, scope, info->name,
        (mo_onnx_binding){ .value = mo_onnx_parameter(t->b, info->name,
                                                      &input->shape, dtype) });
}

/* Initializers that are inputs as well have default values: constants. */
mo_status mo_onnx_add_inputs(mo_onnx_translation *t, mo_onnx_scope *scope,
                             const mo_onnx_graph *g,
                             const mo_read_options *options)
{
    model_input *inputs = calloc(g->n_inputs + 1, sizeof *inputs);
    mo_status status = inputs ? MO_OK : mo_fail_memory(t->err);
    int n = 0;

    for (size_t i = 0; i < g->n_inputs && status == MO_OK; i++) {
        bool has_default = mo_onnx_scope_find(scope, g->inputs[i].name) != NULL;

        inputs[i] = (model_input){ .info = &g->inputs[i],
                                   .place = has_default ? -1 : n++,
                                   .shape = g->inputs[i].shape };
        mo_onnx_reserve(t->b, g->inputs[i].name);
    }
    for (size_t i = 0; i < g->n_outputs && status == MO_OK; i++)
        mo_onnx_reserve(t->b, g->outputs[i].name);
    for (size_t i = 0; i < g->n_inputs && status == MO_OK; i++)
        inputs[i].is_only = n == 1 && inputs[i].place == 0;
    if (status == MO_OK)
        status = apply_requests(t, "shape", &options->shapes, request_shape,
                                inputs, g->n_inputs);
    if (status == MO_OK)
        status = apply_requests(t, "value", &options->values, request_value,
                                inputs, g->n_inputs);
    if (status == MO_OK)
        status = apply_requests(t, "input", &options->hints, request_hint,
                                inputs, g->n_inputs);
    for (size_t i = 0; i < g->n_inputs && status == MO_OK; i++)
        fill_named(inputs, g->n_inputs, &inputs[i]);
    for (size_t i = 0; i < g->n_inputs && status == MO_OK; i++)
        if (inputs[i].place >= 0 || inputs[i].request)
            status = add_input(t, scope, &inputs[i]);
    free(inputs);
    return status;
}
