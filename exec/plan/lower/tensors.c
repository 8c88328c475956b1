/* SPDX-License-Identifier: Apache-2.0 */
/* Numbering of tensors, and the value of each on every device that has it. */
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/minmax.h"
#include "base/number.h"
#include "exec/plan/lower/lower_internal.h"
#include "graph/output_types.h"
#include "ingest/work/weight_attrs.h"
#include "report/format_units.h"

const char *mo_plan_lower_op_type(const mo_op *op)
{
    const mo_operator *known = op->kind;

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

/* "split1:2"; the first output is named like its op. */
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

/* Rank -1 where shape or type is unknown or unsupported. */
static mo_tensor_desc output_desc(const mo_op *op, int port)
{
    const char *dtype = mo_op_dtype(op, port);
    mo_tensor_desc desc = { MO_ELEM_F32, { .rank = -1 } };

    if (!dtype || !mo_elem_from_name(dtype, &desc.elem) ||
        !mo_op_shape(op, port, &desc.shape))
        desc.shape.rank = -1;
    return desc;
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
        int ports = mo_op_n_outputs(&l->g->ops[id]);

        if (ports == 0 && id >= l->g->n_ops)
            ports = 1;
        for (int port = 0; port < ports && status == MO_OK; port++) {
            const mo_op *op = &l->g->ops[id];
            mo_plan_lower_tensor tensor = { .desc = output_desc(op, port),
                                            .input = MO_PLAN_NONE,
                                            .op = id,
                                            .places = MO_PLAN_NONE };
            int number;
            status = name_output(l, op, port, &tensor.name, err);

            if (status == MO_OK)
                status = mo_plan_lower_add_tensor(l, &tensor, &number, err);
        }
        l->first_tensor[id + 1] = (int) l->n_tensors;
    }
    return status;
}

/* A large constant that no device can hold fails before it is computed. Small
 * ones, and values of files, which are only mapped, are checked with all others
 * when the plan is complete. */
static mo_status check_device_memory(const mo_plan_lower_state *l, int id,
                                     int port, mo_error *err)
{
    enum { SMALL_BYTES = 16 << 20 };
    const mo_op *op = &l->g->ops[id];
    char need[MO_FORMAT_SIZE], most[MO_FORMAT_SIZE];
    int64_t largest = 0, bytes;
    mo_tensor_desc desc;
    mo_status status =
        mo_weights_get_desc(l->source->constants, id, port, &desc, err);

    if (status != MO_OK || op->weights)
        return status;
    for (int d = 0; d < l->plan->n_devices; d++)
        largest = mo_max_i64(largest, l->plan->devices[d].capacity_bytes);
    bytes = mo_tensor_desc_bytes(&desc);
    if (bytes <= mo_max_i64(largest, SMALL_BYTES))
        return MO_OK;
    return mo_fail_at(err, MO_E_MEMORY, NULL, op->line,
                      "constant '%.80s' (%.40s) would take %s, and no device "
                      "has more than %s; give one more memory in the cluster",
                      op->name, op->type ? op->type : "no type",
                      mo_format_bytes((double) bytes, need),
                      mo_format_bytes((double) largest, most));
}

mo_status mo_plan_lower_constant_value(mo_plan_lower_state *l, int tensor,
                                       const mo_tensor_dense **value,
                                       mo_error *err)
{
    mo_plan_lower_tensor *it = &l->tensors[tensor];
    mo_status status;

    if (!it->known && it->op >= l->g->n_ops) {
        int port = tensor - l->first_tensor[it->op];

        status = check_device_memory(l, it->op, port, err);
        if (status == MO_OK)
            status = mo_weights_get(l->source->constants, it->op, port,
                                    &it->known, err);
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

/* Returns whether it exists only where its op runs. */
static bool is_bound_to_op(const mo_plan_lower_state *l,
                           const mo_plan_lower_tensor *tensor)
{
    return tensor->op != MO_PLAN_NONE && tensor->op < l->g->n_ops &&
           l->ops[tensor->op].device != MO_PLAN_NONE;
}

/* A constant or an input: fed where it was placed, or else where it is read. */
static mo_status create_value(mo_plan_lower_state *l, int tensor, int device,
                              int *value, mo_error *err)
{
    const mo_plan_lower_tensor *it = &l->tensors[tensor];
    mo_plan_value made = mo_plan_value_init(it->name, &it->desc, device);
    mo_status status;

    made.constant = it->known;
    if (!it->known) {
        made.input = it->input;
        if (is_bound_to_op(l, it)) {
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
    bool fixed = !known && is_bound_to_op(l, it);

    if (status != MO_OK)
        return status;
    for (int p = it->places; p != MO_PLAN_NONE; p = l->places[p].next)
        if (fixed || l->places[p].device == device) {
            *value = l->places[p].value;
            return MO_OK;
        }
    if (known || it->input != MO_PLAN_NONE)
        return create_value(l, tensor, device, value, err);
    return mo_fail(err, MO_E_SUPPORT, "'%.160s' is read, but nobody makes it",
                   it->name);
}

/*
 * Constants and inputs in attributes: graphs without nodes for these describe
 * them by port (moirai-graph(5)):
 *
 *     "weights":"1:768,768"  "values":"1:0,2,1"  "network_input":"0:1,8,768"
 */
typedef struct attr_reader {
    mo_plan_lower_state *l;
    int op;
    mo_plan_lower_add_input *take;
    void *context;
} attr_reader;

/* The items of an attribute; none where it is absent. */
static mo_weight_attr_list attr_list(const attr_reader *t, const char *key)
{
    return mo_weight_attr_list_find(t->l->g->ops[t->op].attr_list, key);
}

/* The op's first output: attribute tensors take its name and type. NULL where
 * its type is unknown. */
static const mo_plan_lower_tensor *first_output(const attr_reader *t)
{
    const int *first = &t->l->first_tensor[t->op];

    return first[0] < first[1] ? &t->l->tensors[first[0]] : NULL;
}

static const mo_tensor_desc *first_output_desc(const attr_reader *t)
{
    const mo_plan_lower_tensor *own = first_output(t);

    return own && own->desc.shape.rank >= 0 ? &own->desc : NULL;
}

static mo_status add_constant_tensor(attr_reader *t, int port,
                                     const mo_tensor_desc *desc, int *number,
                                     mo_error *err)
{
    const mo_plan_lower_tensor *own = first_output(t);
    mo_plan_lower_tensor tensor = { .name = own ? own->name : "",
                                    .desc = *desc,
                                    .input = MO_PLAN_NONE,
                                    .op = MO_PLAN_NONE,
                                    .places = MO_PLAN_NONE };
    mo_status status = mo_weights_synthesize(t->l->source->constants, t->op,
                                             port, desc, &tensor.known, err);

    return status == MO_OK
               ? mo_plan_lower_add_tensor(t->l, &tensor, number, err)
               : status;
}

static mo_status add_constant_input(attr_reader *t, int port,
                                    const mo_tensor_desc *desc, mo_error *err)
{
    int number = MO_PLAN_NONE;
    mo_status status = add_constant_tensor(t, port, desc, &number, err);

    return status == MO_OK ? t->take(t->context, port, number, err) : status;
}

mo_status mo_plan_lower_constant_input(mo_plan_lower_state *l, int op, int port,
                                       const mo_tensor_desc *desc,
                                       mo_plan_lower_add_input *take,
                                       void *context, mo_error *err)
{
    attr_reader t = { l, op, take, context };

    return add_constant_input(&t, port, desc, err);
}

static mo_status fail_attr(const attr_reader *t, const char *key, mo_error *err)
{
    return mo_plan_lower_fail(
        t->l, t->op, err,
        "what attrs tell as \"%s\" is not PORT:... for an op "
        "with a shape and a dtype",
        key);
}

static mo_status add_weight_inputs(attr_reader *t, mo_error *err)
{
    mo_weight_attr_list list = attr_list(t, "weights");
    mo_status status = MO_OK;
    mo_weight_attr attr;

    while (status == MO_OK && mo_weight_attr_next(&list, &attr)) {
        const mo_tensor_desc *own = first_output_desc(t);
        mo_tensor_desc desc;

        if (!own || attr.shape.rank < 0)
            return fail_attr(t, "weights", err);
        desc = (mo_tensor_desc){ own->elem, attr.shape };
        status = add_constant_input(t, attr.port, &desc, err);
    }
    return status;
}

/* A causal mask is as large as the matrices it is added to, and the same for
 * all of them: it is created once. */
static mo_status add_causal_mask(attr_reader *t, const mo_tensor_desc *own,
                                 int port, mo_error *err)
{
    int rank = own->shape.rank;
    mo_tensor_desc desc = { own->elem, { .rank = 2 } };
    mo_status status = MO_OK;

    if (rank < 2)
        return fail_attr(t, "values", err);
    desc.shape.dims[0] = own->shape.dims[rank - 2];
    desc.shape.dims[1] = own->shape.dims[rank - 1];
    if (t->l->causal == MO_PLAN_NONE ||
        !mo_tensor_desc_equal(&t->l->tensors[t->l->causal].desc, &desc))
        status = add_constant_tensor(t, port, &desc, &t->l->causal, err);
    return status == MO_OK ? t->take(t->context, port, t->l->causal, err)
                           : status;
}

/* Returns whether the port holds a list of axes, sizes or the like rather than
 * data: all inputs that must be constant at lowering, and the shapes of views.
 */
static bool is_parameter_list(const attr_reader *t, int port)
{
    const mo_plan_lower_op *op = &t->l->ops[t->op];
    const mo_lower_entry *known =
        op->type ? mo_lower_entry_find(op->type) : NULL;

    return (known && port < 32 && known->constants >> port & 1u) ||
           mo_plan_lower_op_class(&t->l->g->ops[t->op]) == MO_CLASS_FREE;
}

static mo_status add_number_input(attr_reader *t, mo_elem elem, int port,
                                  const char *text, size_t length,
                                  mo_error *err)
{
    mo_tensor_desc desc = { elem, { .rank = 0 } };
    int64_t count = 1;

    for (size_t i = 0; i < length; i++)
        count += text[i] == ',';
    if (is_parameter_list(t, port))
        desc.elem = MO_ELEM_I64;
    if (is_parameter_list(t, port) || count > 1) {
        desc.shape.rank = 1;
        desc.shape.dims[0] = count;
    }
    return add_constant_input(t, port, &desc, err);
}

static mo_status add_value_input(attr_reader *t, const char *text,
                                 size_t length, mo_error *err)
{
    static const char causal[] = "causal";
    const char *colon = memchr(text, ':', length);
    size_t before = colon ? (size_t) (colon - text) : 0;
    const mo_tensor_desc *own = first_output_desc(t);
    int64_t port;

    if (!colon || !own ||
        mo_number_read_int(text, before, &port) != MO_NUMBER_OK || port < 0 ||
        port > INT_MAX)
        return fail_attr(t, "values", err);
    text = colon + 1;
    length -= before + 1;
    if (length == strlen(causal) && memcmp(text, causal, length) == 0)
        return add_causal_mask(t, own, (int) port, err);
    return add_number_input(t, own->elem, (int) port, text, length, err);
}

static mo_status add_network_input(attr_reader *t, mo_error *err)
{
    mo_weight_attr_list list = attr_list(t, "network_input");
    const mo_tensor_desc *own = first_output_desc(t);
    mo_status status = MO_OK;
    mo_tensor_desc desc;
    mo_weight_attr attr;

    if (!mo_weight_attr_next(&list, &attr))
        return MO_OK;
    if (!own || attr.shape.rank < 0)
        return fail_attr(t, "network_input", err);
    desc = (mo_tensor_desc){ own->elem, attr.shape };
    if (t->l->network_input == MO_PLAN_NONE) {
        /* All ops that read the network's input read the same tensor. */
        mo_plan_lower_state *l = t->l;
        mo_plan_lower_tensor tensor = { .name = "input",
                                        .desc = desc,
                                        .input = MO_PLAN_NONE,
                                        .op = MO_PLAN_NONE,
                                        .places = MO_PLAN_NONE };
        status = MO_ARRAY_GROW(l->inputs, l->n_inputs, l->inputs_room, err);

        if (status == MO_OK)
            status =
                mo_plan_lower_add_tensor(l, &tensor, &l->network_input, err);
        if (status == MO_OK)
            l->inputs[l->n_inputs++] =
                (mo_plan_lower_io_port){ tensor.name, INT64_MAX, t->op,
                                         l->network_input };
    } else if (!mo_tensor_desc_equal(&t->l->tensors[t->l->network_input].desc,
                                     &desc))
        return mo_plan_lower_fail(
            t->l, t->op, err, "its network_input is not like that of others");
    return status == MO_OK
               ? t->take(t->context, attr.port, t->l->network_input, err)
               : status;
}

mo_status mo_plan_lower_attr_tensors(mo_plan_lower_state *l, int op,
                                     mo_plan_lower_add_input *take,
                                     void *context, mo_error *err)
{
    attr_reader t = { l, op, take, context };
    mo_status status = add_weight_inputs(&t, err);

    if (status == MO_OK) {
        mo_weight_attr_list list = attr_list(&t, "values");

        while (list.length > 0 && status == MO_OK) {
            const char *stop = memchr(list.text, ';', list.length);
            size_t length = stop ? (size_t) (stop - list.text) : list.length;

            status = add_value_input(&t, list.text, length, err);
            length += stop != NULL;
            list.text += length;
            list.length -= length;
        }
    }
    if (status == MO_OK)
        status = add_network_input(&t, err);
    return status;
}
