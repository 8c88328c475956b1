/* SPDX-License-Identifier: Apache-2.0 */
#include "ingest/infer/infer.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/out.h"
#include "base/number.h"
#include "ingest/infer/dims.h"
#include "ingest/infer/value_text.h"

static bool is_input(const mo_ir_layer *layer)
{
    return strcmp(layer->type, "Parameter") == 0 && layer->n_outputs == 1;
}

static int count_inputs(const mo_ir *ir)
{
    int count = 0;

    for (int i = 0; i < ir->n_layers; i++)
        count += is_input(&ir->layers[i]);
    return count;
}

/* Returns the layer of input number place, or -1. */
static int input_at(const mo_ir *ir, int64_t place)
{
    for (int i = 0; i < ir->n_layers; i++)
        if (is_input(&ir->layers[i]) && place-- == 0)
            return i;
    return -1;
}

/* By name first: an input may be named "1". */
static int find_input(const mo_ir *ir, const char *name, size_t length)
{
    int64_t place;

    for (int i = 0; i < ir->n_layers; i++)
        if (is_input(&ir->layers[i]) && strlen(ir->layers[i].name) == length &&
            memcmp(ir->layers[i].name, name, length) == 0)
            return i;
    if (mo_number_read_int(name, length, &place) == MO_NUMBER_OK && place >= 0)
        return input_at(ir, place);
    return -1;
}

/* "'ids', 'mask'": as many as the buffer holds. */
typedef struct name_list {
    char text[256];
} name_list;

static name_list list_inputs(const mo_ir *ir)
{
    name_list names = { "none" };
    size_t used = 0;
    int index;

    for (int n = 0; (index = input_at(ir, n)) >= 0; n++) {
        char next[96];
        size_t length =
            (size_t) snprintf(next, sizeof next, "%s'%.80s'", n > 0 ? ", " : "",
                              ir->layers[index].name);

        if (used + length + sizeof ", ..." > sizeof names.text) {
            strcpy(names.text + used, ", ...");
            break;
        }
        strcpy(names.text + used, next);
        used += length;
    }
    return names;
}

/* Suggested shape of an input: its own sizes, and 1 for dynamic ones. */
static mo_dims_text suggest_shape(const mo_shape *shape)
{
    mo_shape example = *shape;

    for (int d = 0; d < example.rank; d++)
        if (example.dims[d] < 0)
            example.dims[d] = 1;
    if (example.rank < 0)
        return (mo_dims_text){ "1,..." };
    return mo_dims_format(&example);
}

/* Finds the layer that a request of an option names; *rest is behind the
 * name. given, by layer, notes it. */
static mo_status find_requested(const mo_ir *ir, const char *option,
                                const char *request, bool *given, int *index,
                                const char **rest, mo_error *err)
{
    const char *mark = strrchr(request, '=');

    *rest = mark ? mark + 1 : request;
    *index = mark ? find_input(ir, request, (size_t) (mark - request))
                  : input_at(ir, 0);
    if (!mark && count_inputs(ir) > 1)
        return mo_fail(err, MO_E_USAGE,
                       "--%s %.120s does not say for which input; they are %s",
                       option, request, list_inputs(ir).text);
    if (*index < 0)
        return mo_fail(err, MO_E_USAGE,
                       "--%s %.120s names no input of %s; its inputs are %s",
                       option, request, ir->file, list_inputs(ir).text);
    if (given[*index])
        return mo_fail(
            err, MO_E_USAGE,
            "--%s %.120s: the %s of '%.80s' is given twice; keep one "
            "of them",
            option, request, option, ir->layers[*index].name);
    given[*index] = true;
    return MO_OK;
}

static mo_status read_dims(const char *request, const char *dims,
                           mo_shape *shape, mo_error *err)
{
    switch (mo_shape_read(dims, strlen(dims), shape)) {
    case MO_SHAPE_OK:
        return MO_OK;
    case MO_SHAPE_DYNAMIC:
        return mo_fail(
            err, MO_E_USAGE,
            "--shape %.120s: every size must be a number, not '?' or -1",
            request);
    case MO_SHAPE_RANGE:
        return mo_fail(
            err, MO_E_USAGE,
            "--shape %.120s is too large; give at most 2^48 elements", request);
    case MO_SHAPE_INVALID:
        break;
    }
    return mo_fail(err, MO_E_USAGE,
                   "--shape %.120s is not NAME=DIMS, as in input=1,128",
                   request);
}

static mo_status set_shape(mo_ir *ir, const char *request, int index,
                           const mo_shape *shape, bool *changed, mo_error *err)
{
    mo_ir_layer *layer = &ir->layers[index];
    mo_shape *own = &layer->outputs[0].shape;
    const char *attrs = layer->attrs, *raw;
    char dims[MO_SHAPE_TEXT_SIZE], *text;
    size_t length, n;

    if (own->rank >= 0 && own->rank != shape->rank)
        return mo_fail_at(
            err, MO_E_USAGE, ir->file, layer->line,
            "--shape %.120s: input '%.80s' has %d dimensions (%s)", request,
            layer->name, own->rank, mo_dims_format(own).text);
    changed[index] = mo_dims_contradict(own, shape);
    *own = *shape;
    raw = attrs ? mo_json_find(attrs, "shape", &length) : NULL;
    if (!raw)
        return MO_OK;
    n = mo_shape_write(shape, dims);
    text = mo_arena_alloc(ir->arena, strlen(attrs) + n + 3);
    if (!text)
        return mo_fail_memory(err);
    sprintf(text, "%.*s\"%.*s\"%s", (int) (raw - attrs), attrs, (int) n, dims,
            raw + length);
    layer->attrs = text;
    return MO_OK;
}

static mo_status apply_request(mo_ir *ir, const char *request, bool *given,
                               bool *changed, mo_error *err)
{
    const char *dims;
    mo_shape shape;
    int index;
    mo_status status =
        find_requested(ir, "shape", request, given, &index, &dims, err);

    if (status == MO_OK)
        status = read_dims(request, dims, &shape, err);
    return status == MO_OK ? set_shape(ir, request, index, &shape, changed, err)
                           : status;
}

static mo_status apply_hint(mo_ir *ir, const char *hint, bool *changed,
                            mo_error *err)
{
    const char *mark = strrchr(hint, '=');
    const char *dims = mark ? mark + 1 : hint;
    int index = mark ? find_input(ir, hint, (size_t) (mark - hint))
                : count_inputs(ir) == 1 ? input_at(ir, 0)
                                        : -1;
    const mo_shape *own =
        index < 0 ? NULL : &ir->layers[index].outputs[0].shape;
    mo_shape shape;

    if (!own || mo_shape_is_static(own) ||
        mo_shape_read(dims, strlen(dims), &shape) != MO_SHAPE_OK ||
        mo_dims_contradict(own, &shape))
        return MO_OK;
    return set_shape(ir, hint, index, &shape, changed, err);
}

static mo_status check_static(const mo_ir *ir, mo_error *err)
{
    for (int i = 0; i < ir->n_layers; i++) {
        const mo_ir_layer *layer = &ir->layers[i];

        if (is_input(layer) && !mo_shape_is_static(&layer->outputs[0].shape))
            return mo_fail_at(
                err, MO_E_INPUT, ir->file, layer->line,
                "input '%.80s' has a dynamic dimension (%s); give "
                "it a size with --shape %.80s=%s",
                layer->name, mo_dims_format(&layer->outputs[0].shape).text,
                layer->name, suggest_shape(&layer->outputs[0].shape).text);
    }
    return MO_OK;
}

/* Writes the value into the attributes of its layer, which has the type Const
 * from there on. */
static mo_status make_constant(mo_ir *ir, int index,
                               const mo_infer_value *value, mo_error *err)
{
    mo_ir_layer *layer = &ir->layers[index];
    mo_out *out = NULL;
    mo_status status = mo_out_memory(&out, err);
    const char *text;
    size_t size;

    if (status != MO_OK)
        return status;
    mo_infer_value_write_literal(value, out);
    text = mo_out_borrow(out, &size);
    layer->type = "Const";
    layer->attrs = text ? mo_arena_text(ir->arena, text, size) : NULL;
    layer->outputs[0].shape = value->shape;
    mo_out_abandon(out);
    return layer->attrs ? MO_OK : mo_fail_memory(err);
}

/* Numbers of inputs count all of them: the layers change at the end. */
static mo_status set_values(mo_ir *ir, const mo_option_list *requests,
                            bool *given, bool *changed, mo_error *err)
{
    mo_infer_value **values = calloc((size_t) ir->n_layers + 1, sizeof *values);
    mo_status status = values ? MO_OK : mo_fail_memory(err);

    memset(given, 0, (size_t) ir->n_layers * sizeof *given);
    for (size_t i = 0; status == MO_OK && i < requests->count; i++) {
        const char *request = requests->items[i], *numbers;
        int index;

        status =
            find_requested(ir, "value", request, given, &index, &numbers, err);
        if (status == MO_OK)
            status = mo_infer_value_read(ir->arena, request, numbers,
                                         &ir->layers[index].outputs[0].shape,
                                         ir->layers[index].outputs[0].dtype,
                                         &values[index], err);
    }
    for (int i = 0; status == MO_OK && i < ir->n_layers; i++)
        if (values[i]) {
            changed[i] |= mo_dims_contradict(&ir->layers[i].outputs[0].shape,
                                             &values[i]->shape);
            status = make_constant(ir, i, values[i], err);
        }
    free(values);
    return status;
}

mo_status mo_infer_set_inputs(mo_ir *ir, const mo_read_options *options,
                              bool *changed, mo_error *err)
{
    bool *given = calloc((size_t) ir->n_layers + 1, sizeof *given);
    mo_status status = MO_OK;

    if (!given)
        return mo_fail_memory(err);
    for (size_t i = 0; status == MO_OK && i < options->shapes.count; i++)
        status =
            apply_request(ir, options->shapes.items[i], given, changed, err);
    for (size_t i = 0; status == MO_OK && i < options->hints.count; i++)
        status = apply_hint(ir, options->hints.items[i], changed, err);
    if (status == MO_OK)
        status = set_values(ir, &options->values, given, changed, err);
    free(given);
    return status == MO_OK ? check_static(ir, err) : status;
}
