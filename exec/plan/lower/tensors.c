/* SPDX-License-Identifier: Apache-2.0 */
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "exec/plan/lower/lower_internal.h"
#include "ingest/dtype.h"
#include "ingest/text_list.h"

const char *mo_plan_lower_op_type(const mo_op *op)
{
    const mo_operator *known = op->type ? mo_operator_find(op->type) : NULL;

    return known ? known->name : op->type;
}

mo_status mo_plan_lower_fail(const mo_plan_lower_state *l, int op,
                             mo_error *err, const char *format, ...)
{
    const char *type = mo_plan_lower_op_type(&l->g->ops[op]);
    char text[MO_ERROR_TEXT_SIZE / 2];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return mo_fail(err, MO_E_SUPPORT, "op '%.160s' (%.80s): %s",
                   l->g->ops[op].name, type ? type : "no type", text);
}

mo_status mo_plan_lower_copy_text(mo_plan_lower_state *l, const char *text,
                                  const char **kept, mo_error *err)
{
    *kept = mo_arena_text(l->plan->arena, text ? text : "",
                          text ? strlen(text) : 0);
    return *kept ? MO_OK : mo_fail_memory(err);
}

mo_status mo_plan_lower_add_tensor(mo_plan_lower_state *l,
                                   const mo_plan_lower_tensor *tensor,
                                   int *number, mo_error *err)
{
    mo_status status;

    if (l->n_tensors >= INT_MAX)
        return mo_fail(err, MO_E_LIMIT, "more than %d tensors", INT_MAX);
    status = MO_ARRAY_GROW(l->tensors, l->n_tensors, l->tensors_room, err);
    if (status != MO_OK)
        return status;
    l->tensors[l->n_tensors] = *tensor;
    *number = (int) l->n_tensors++;
    return MO_OK;
}

/* "split1:2"; the first output is called like its op. */
static mo_status name_output(mo_plan_lower_state *l, const mo_op *op, int port,
                             const char **name, mo_error *err)
{
    char number[16];
    size_t length = strlen(op->name);
    int digits = snprintf(number, sizeof number, ":%d", port);
    char *text;

    if (port == 0)
        return mo_plan_lower_copy_text(l, op->name, name, err);
    text = mo_arena_alloc(l->plan->arena, length + (size_t) digits + 1);
    if (!text)
        return mo_fail_memory(err);
    memcpy(text, op->name, length);
    memcpy(text + length, number, (size_t) digits);
    *name = text;
    return MO_OK;
}

/* Rank -1 where it is not said, or nothing can be run in it. */
static mo_tensor_desc desc_of(const mo_op *op, int port)
{
    const char *dtype = mo_dtype_at(op->dtype, port);
    mo_tensor_desc desc = { MO_ELEM_F32, { .rank = -1 } };

    if (!dtype || !mo_elem_from_name(dtype, &desc.elem) ||
        !mo_shape_at(op->shape, port, &desc.shape))
        desc.shape.rank = -1;
    return desc;
}

static mo_status add_output(mo_plan_lower_state *l, int id, int port,
                            mo_error *err)
{
    const mo_op *op = &l->g->ops[id];
    mo_plan_lower_tensor tensor = { .desc = desc_of(op, port),
                                    .input = MO_PLAN_NONE,
                                    .op = id,
                                    .places = MO_PLAN_NONE };
    int number;
    mo_status status = name_output(l, op, port, &tensor.name, err);

    return status == MO_OK ? mo_plan_lower_add_tensor(l, &tensor, &number, err)
                           : status;
}

/* A constant may have but its weights to say what it is like. */
static int count_outputs(const mo_graph *g, int id)
{
    int n = mo_text_list_count(g->ops[id].shape);

    return n == 0 && id >= g->n_ops ? 1 : n;
}

mo_status mo_plan_lower_number_tensors(mo_plan_lower_state *l, mo_error *err)
{
    int n = l->g->n_ops + l->g->n_constants;
    mo_status status = MO_OK;

    l->first_tensor =
        mo_arena_array(l->scratch, (size_t) n + 1, sizeof *l->first_tensor);
    if (!l->first_tensor)
        return mo_fail_memory(err);
    for (int id = 0; id < n && status == MO_OK; id++) {
        int ports = count_outputs(l->g, id);

        for (int port = 0; port < ports && status == MO_OK; port++)
            status = add_output(l, id, port, err);
        l->first_tensor[id + 1] = (int) l->n_tensors;
    }
    return status;
}

mo_status mo_plan_lower_constant_value(mo_plan_lower_state *l, int tensor,
                                       const mo_tensor_dense **value,
                                       mo_error *err)
{
    mo_plan_lower_tensor *it = &l->tensors[tensor];
    mo_status status;

    if (!it->known && it->op >= l->g->n_ops) {
        status =
            mo_weights_get(l->source->constants, it->op,
                           tensor - l->first_tensor[it->op], &it->known, err);
        if (status != MO_OK) {
            l->lacks_data = true;
            return status;
        }
        it->desc = it->known->desc;
    }
    *value = it->known;
    return MO_OK;
}

mo_status mo_plan_lower_add_location(mo_plan_lower_state *l, int tensor,
                                     int device, int value, mo_error *err)
{
    mo_plan_lower_tensor *it = &l->tensors[tensor];
    mo_status status =
        MO_ARRAY_GROW(l->places, l->n_places, l->places_room, err);

    if (status != MO_OK)
        return status;
    l->places[l->n_places] =
        (mo_plan_lower_location){ device, value, it->places };
    it->places = (int) l->n_places++;
    return MO_OK;
}

/* Is it made by the op it belongs to, and nowhere else? */
static bool is_fixed(const mo_plan_lower_state *l,
                     const mo_plan_lower_tensor *tensor)
{
    return tensor->op != MO_PLAN_NONE && tensor->op < l->g->n_ops &&
           l->ops[tensor->op].device != MO_PLAN_NONE;
}

/* A constant or an input: fed where it was placed, or else where it is read. */
static mo_status make_value(mo_plan_lower_state *l, int tensor, int device,
                            int *value, mo_error *err)
{
    const mo_plan_lower_tensor *it = &l->tensors[tensor];
    mo_plan_value made = mo_plan_value_init(it->name, &it->desc, device);
    mo_status status;

    made.constant = it->known;
    if (!it->known) {
        made.input = it->input;
        if (is_fixed(l, it)) {
            made.item = l->ops[it->op].item;
            made.device = device = l->ops[it->op].device;
        }
    }
    status = mo_plan_values_add(&l->values, &made, value, err);
    if (status == MO_OK)
        status = mo_plan_lower_add_location(l, tensor, device, *value, err);
    return status;
}

mo_status mo_plan_lower_value_on_device(mo_plan_lower_state *l, int tensor,
                                        int device, int *value, mo_error *err)
{
    const mo_tensor_dense *known;
    mo_status status = mo_plan_lower_constant_value(l, tensor, &known, err);
    const mo_plan_lower_tensor *it = &l->tensors[tensor];
    bool fixed = !known && is_fixed(l, it);

    if (status != MO_OK)
        return status;
    for (int p = it->places; p != MO_PLAN_NONE; p = l->places[p].next)
        if (fixed || l->places[p].device == device) {
            *value = l->places[p].value;
            return MO_OK;
        }
    if (known || it->input != MO_PLAN_NONE)
        return make_value(l, tensor, device, value, err);
    return mo_fail(err, MO_E_SUPPORT, "'%.160s' is read, but nobody makes it",
                   it->name);
}
