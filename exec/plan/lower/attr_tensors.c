/* SPDX-License-Identifier: Apache-2.0 */
#include <limits.h>
#include <string.h>

#include "base/array.h"
#include "base/json.h"
#include "base/number.h"
#include "exec/plan/lower/lower_internal.h"
#include "ingest/work/weight_attrs.h"

/*
 * Graphs without nodes for constants and inputs tell of them in attrs, by port
 * (moirai-graph(5)):
 *
 *     "weights":"1:768,768"  "values":"1:0,2,1"  "network_input":"0:1,8,768"
 */
typedef struct telling {
    mo_plan_lower_state *l;
    int op;
    mo_plan_lower_add_input *take;
    void *context;
} telling;

/* The text of a member, without its quotes; empty where there is none. */
static mo_weight_attr_list list_of(const mo_op *op, const char *key)
{
    size_t length = 0;
    const char *text = op->attrs ? mo_json_find(op->attrs, key, &length) : NULL;

    if (!text || length < 2 || text[0] != '"')
        return (mo_weight_attr_list){ NULL, 0 };
    return (mo_weight_attr_list){ text + 1, length - 2 };
}

/* What the op itself makes: told tensors are called like it and are of its
 * type.  NULL where it does not say. */
static const mo_plan_lower_tensor *own_tensor(const telling *t)
{
    const int *first = &t->l->first_tensor[t->op];

    return first[0] < first[1] ? &t->l->tensors[first[0]] : NULL;
}

static const mo_tensor_desc *own_desc(const telling *t)
{
    const mo_plan_lower_tensor *own = own_tensor(t);

    return own && own->desc.shape.rank >= 0 ? &own->desc : NULL;
}

static mo_status add_constant(telling *t, int port, const mo_tensor_desc *desc,
                              int *number, mo_error *err)
{
    mo_plan_lower_tensor tensor = { .name = own_tensor(t)->name,
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

static mo_status take_constant(telling *t, int port, const mo_tensor_desc *desc,
                               mo_error *err)
{
    int number;
    mo_status status = add_constant(t, port, desc, &number, err);

    return status == MO_OK ? t->take(t->context, port, number, err) : status;
}

static mo_status fail_told(const telling *t, const char *key, mo_error *err)
{
    return mo_plan_lower_fail(
        t->l, t->op, err,
        "what attrs tell as \"%s\" is not PORT:... for an op "
        "with a shape and a dtype",
        key);
}

static mo_status tell_weights(telling *t, mo_error *err)
{
    mo_weight_attr_list list = list_of(&t->l->g->ops[t->op], "weights");
    mo_status status = MO_OK;
    mo_weight_attr told;

    while (status == MO_OK && mo_weight_attr_next(&list, &told)) {
        const mo_tensor_desc *own = own_desc(t);
        mo_tensor_desc desc;

        if (!own || told.shape.rank < 0)
            return fail_told(t, "weights", err);
        desc = (mo_tensor_desc){ own->elem, told.shape };
        status = take_constant(t, told.port, &desc, err);
    }
    return status;
}

/* A mask is as large as the matrices it is added to, and the same for all of
 * them: it is made once. */
static mo_status take_causal(telling *t, int port, mo_error *err)
{
    const mo_tensor_desc *own = own_desc(t);
    int rank = own->shape.rank;
    mo_tensor_desc desc = { own->elem, { .rank = 2 } };
    mo_status status = MO_OK;

    if (rank < 2)
        return fail_told(t, "values", err);
    desc.shape.dims[0] = own->shape.dims[rank - 2];
    desc.shape.dims[1] = own->shape.dims[rank - 1];
    if (t->l->causal == MO_PLAN_NONE ||
        !mo_tensor_desc_equal(&t->l->tensors[t->l->causal].desc, &desc))
        status = add_constant(t, port, &desc, &t->l->causal, err);
    return status == MO_OK ? t->take(t->context, port, t->l->causal, err)
                           : status;
}

/* Is it a list of axes, sizes or the like, and not data?  So are all inputs
 * that an op must know when it is lowered, and the shapes that views are given.
 */
static bool is_list(const telling *t, int port)
{
    const mo_plan_lower_op *op = &t->l->ops[t->op];
    const mo_lower_entry *known =
        op->type ? mo_lower_entry_find(op->type) : NULL;

    return (known && port < 32 && known->constants >> port & 1u) ||
           mo_plan_lower_op_class(&t->l->g->ops[t->op]) == MO_CLASS_FREE;
}

static mo_status take_numbers(telling *t, int port, const char *text,
                              size_t length, mo_error *err)
{
    mo_tensor_desc desc = { own_desc(t)->elem, { .rank = 0 } };
    int64_t count = 1;

    for (size_t i = 0; i < length; i++)
        count += text[i] == ',';
    if (is_list(t, port))
        desc.elem = MO_ELEM_I64;
    if (is_list(t, port) || count > 1) {
        desc.shape.rank = 1;
        desc.shape.dims[0] = count;
    }
    return take_constant(t, port, &desc, err);
}

static mo_status tell_value(telling *t, const char *text, size_t length,
                            mo_error *err)
{
    static const char causal[] = "causal";
    const char *colon = memchr(text, ':', length);
    size_t before = colon ? (size_t) (colon - text) : 0;
    int64_t port;

    if (!colon || !own_desc(t) ||
        mo_number_read_int(text, before, &port) != MO_NUMBER_OK || port < 0 ||
        port > INT_MAX)
        return fail_told(t, "values", err);
    text = colon + 1;
    length -= before + 1;
    if (length == strlen(causal) && memcmp(text, causal, length) == 0)
        return take_causal(t, (int) port, err);
    return take_numbers(t, (int) port, text, length, err);
}

static mo_status tell_values(telling *t, mo_error *err)
{
    mo_weight_attr_list list = list_of(&t->l->g->ops[t->op], "values");
    mo_status status = MO_OK;

    while (list.length > 0 && status == MO_OK) {
        const char *stop = memchr(list.text, ';', list.length);
        size_t length = stop ? (size_t) (stop - list.text) : list.length;

        status = tell_value(t, list.text, length, err);
        length += stop != NULL;
        list.text += length;
        list.length -= length;
    }
    return status;
}

/* All ops that read the network's input read the same tensor. */
static mo_status make_network_input(telling *t, const mo_tensor_desc *desc,
                                    mo_error *err)
{
    mo_plan_lower_state *l = t->l;
    mo_plan_lower_tensor tensor = { .name = "input",
                                    .desc = *desc,
                                    .input = MO_PLAN_NONE,
                                    .op = MO_PLAN_NONE,
                                    .places = MO_PLAN_NONE };
    mo_status status =
        MO_ARRAY_GROW(l->inputs, l->n_inputs, l->inputs_room, err);

    if (status == MO_OK)
        status = mo_plan_lower_add_tensor(l, &tensor, &l->network_input, err);
    if (status == MO_OK)
        l->inputs[l->n_inputs++] =
            (mo_plan_lower_io_port){ tensor.name, INT64_MAX, t->op,
                                     l->network_input };
    return status;
}

static mo_status tell_network_input(telling *t, mo_error *err)
{
    mo_weight_attr_list list = list_of(&t->l->g->ops[t->op], "network_input");
    const mo_tensor_desc *own = own_desc(t);
    mo_status status = MO_OK;
    mo_tensor_desc desc;
    mo_weight_attr told;

    if (!mo_weight_attr_next(&list, &told))
        return MO_OK;
    if (!own || told.shape.rank < 0)
        return fail_told(t, "network_input", err);
    desc = (mo_tensor_desc){ own->elem, told.shape };
    if (t->l->network_input == MO_PLAN_NONE)
        status = make_network_input(t, &desc, err);
    else if (!mo_tensor_desc_equal(&t->l->tensors[t->l->network_input].desc,
                                   &desc))
        return mo_plan_lower_fail(
            t->l, t->op, err, "its network_input is not like that of others");
    return status == MO_OK
               ? t->take(t->context, told.port, t->l->network_input, err)
               : status;
}

mo_status mo_plan_lower_attr_tensors(mo_plan_lower_state *l, int op,
                                     mo_plan_lower_add_input *take,
                                     void *context, mo_error *err)
{
    telling t = { l, op, take, context };
    mo_status status = tell_weights(&t, err);

    if (status == MO_OK)
        status = tell_values(&t, err);
    if (status == MO_OK)
        status = tell_network_input(&t, err);
    return status;
}
