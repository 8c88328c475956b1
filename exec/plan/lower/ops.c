/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "exec/weights/evaluate.h"
#include "exec/plan/lower/lower_internal.h"

/* One op where it stands; arrays in scratch. */
typedef struct stand {
    mo_op_site site;
    mo_tensor_desc *in, *out;
    const mo_tensor_dense **value;
    bool all_known; /* of its inputs, one at least */
} stand;

static bool is_type(const mo_plan_lower_op *op, const char *type)
{
    return op->type && strcmp(op->type, type) == 0;
}

/* Which is "input" or "output". */
static mo_status check_fixed(const mo_plan_lower_state *l, int id,
                             const char *which, int number,
                             const mo_tensor_desc *desc, mo_error *err)
{
    if (desc->shape.rank < 0)
        return mo_plan_lower_fail(
            l, id, err,
            "its %s %d has no fixed shape, or a dtype that "
            "cannot be run",
            which, number);
    return MO_OK;
}

static mo_status fill_inputs(mo_plan_lower_state *l, int id, stand *s,
                             mo_error *err)
{
    const mo_plan_lower_op *op = &l->ops[id];

    s->all_known = op->n_in > 0;
    for (int i = 0; i < op->n_in; i++) {
        mo_status status =
            mo_plan_lower_constant_value(l, op->in[i], &s->value[i], err);

        if (status != MO_OK)
            return status;
        s->in[i] = l->tensors[op->in[i]].desc;
        s->all_known = s->all_known && s->value[i];
        status = check_fixed(l, id, "input", i, &s->in[i], err);
        if (status != MO_OK)
            return status;
    }
    return MO_OK;
}

static mo_status fill_outputs(mo_plan_lower_state *l, int id, stand *s,
                              mo_error *err)
{
    const mo_plan_lower_op *op = &l->ops[id];

    mo_status status = MO_OK;

    for (int i = 0; status == MO_OK && i < op->n_out; i++) {
        s->out[i] = l->tensors[l->first_tensor[id] + i].desc;
        status = check_fixed(l, id, "output", i, &s->out[i], err);
    }
    return status;
}

static mo_status make_stand(mo_plan_lower_state *l, int id, stand *s,
                            mo_error *err)
{
    const mo_plan_lower_op *op = &l->ops[id];
    size_t n_in = (size_t) op->n_in, n_out = (size_t) op->n_out;
    mo_status status;

    if (!op->type)
        return mo_plan_lower_fail(l, id, err, "nobody knows what it does");
    if (op->n_out == 0)
        return mo_plan_lower_fail(l, id, err, "its outputs have no shapes");
    s->in = mo_arena_array(l->scratch, n_in, sizeof *s->in);
    s->out = mo_arena_array(l->scratch, n_out, sizeof *s->out);
    s->value = mo_arena_array(l->scratch, n_in, sizeof *s->value);
    if (!s->in || !s->out || !s->value)
        return mo_fail_memory(err);
    status = fill_inputs(l, id, s, err);
    if (status == MO_OK)
        status = fill_outputs(l, id, s, err);
    s->site = (mo_op_site){ .name = l->g->ops[id].name,
                            .type = op->type,
                            .attrs = l->g->ops[id].attrs,
                            .n_in = op->n_in,
                            .n_out = op->n_out,
                            .in = s->in,
                            .out = s->out,
                            .value = s->value };
    return status;
}

/* A tensor that goes with the plan. */
static mo_status new_known(mo_plan_lower_state *l, const mo_tensor_desc *desc,
                           mo_tensor_dense **known, mo_error *err)
{
    enum { ALIGNMENT = 64 };
    size_t bytes = (size_t) mo_tensor_desc_bytes(desc);
    mo_tensor_dense *made = mo_arena_alloc(l->plan->arena, sizeof *made);
    char *data = mo_arena_alloc(l->plan->arena, bytes + ALIGNMENT);

    if (!made || !data)
        return mo_fail_memory(err);
    data += ALIGNMENT - (uintptr_t) data % ALIGNMENT;
    *made = (mo_tensor_dense){ .desc = *desc, .data = data };
    *known = made;
    return MO_OK;
}

static mo_status keep_known(mo_plan_lower_state *l, int tensor,
                            const mo_tensor_dense *value, mo_error *err)
{
    mo_tensor_dense *kept = NULL;
    mo_status status = new_known(l, &value->desc, &kept, err);

    if (status != MO_OK)
        return status;
    memcpy(kept->data, value->data,
           (size_t) mo_tensor_desc_bytes(&value->desc));
    l->tensors[tensor].known = kept;
    return MO_OK;
}

/* What follows from constants alone is computed now. */
static mo_status compute_known(mo_plan_lower_state *l, int id, const stand *s,
                               mo_error *err)
{
    int n = s->site.n_out;
    mo_tensor_dense *outputs = calloc((size_t) n + 1, sizeof *outputs);
    mo_status status = outputs ? mo_weights_eval_op(&s->site, outputs, err)
                               : mo_fail_memory(err);

    for (int i = 0; i < n && status == MO_OK; i++)
        status = keep_known(l, l->first_tensor[id] + i, &outputs[i], err);
    for (int i = 0; i < n && outputs; i++)
        mo_tensor_clear(&outputs[i]);
    free(outputs);
    return status;
}

/* Shapes are known before anything runs. */
static mo_status keep_shape(mo_plan_lower_state *l, int id, const stand *s,
                            mo_error *err)
{
    mo_tensor_dense *kept = NULL;
    mo_status status;

    if (s->site.n_in != 1 ||
        mo_tensor_desc_elements(&s->out[0]) != s->in[0].shape.rank)
        return mo_plan_lower_fail(
            l, id, err,
            "it has not as many elements as its input has "
            "dimensions");
    status = new_known(l, &s->out[0], &kept, err);
    if (status != MO_OK)
        return status;
    for (int i = 0; i < s->in[0].shape.rank; i++)
        mo_tensor_set_int(kept, i, s->in[0].shape.dims[i]);
    l->tensors[l->first_tensor[id]].known = kept;
    return MO_OK;
}

static mo_status lower_op(mo_plan_lower_state *l, int id, mo_error *err)
{
    mo_plan_lower_op *op = &l->ops[id];
    stand s = { 0 };
    mo_status status = mo_plan_lower_op_inputs(l, id, err);

    if (status != MO_OK || is_type(op, "Parameter") || is_type(op, "Result"))
        return status;
    status = make_stand(l, id, &s, err);
    if (status != MO_OK)
        return status;
    if (is_type(op, "ShapeOf"))
        return keep_shape(l, id, &s, err);
    if (s.all_known)
        return compute_known(l, id, &s, err);
    if (is_type(op, "Const"))
        return mo_plan_lower_fail(
            l, id, err,
            "it is not marked as a constant (\"constant\" in "
            "moirai-graph(5))");
    return mo_lower_operator(&s.site, l->scratch, &op->lowered, err);
}

/* An op that cannot be run does not stop us: all of them are told. */
static mo_status note_failure(mo_plan_lower_state *l, int id, mo_status status,
                              const mo_error *why, mo_error *err)
{
    const mo_plan_source *source = l->source;

    if (l->lacks_data || (status != MO_E_SUPPORT && status != MO_E_INPUT &&
                          status != MO_E_LIMIT)) {
        if (err)
            *err = *why;
        return status;
    }
    if (l->n_cannot++ == 0) {
        l->first_cannot = *why;
        l->first_cannot.line = l->g->ops[id].line;
    }
    if (source->on_unsupported)
        source->on_unsupported(source->context, l->g->ops[id].line, why->text);
    return MO_OK;
}

static mo_status judge(const mo_plan_lower_state *l, mo_error *err)
{
    if (l->n_cannot == 0)
        return MO_OK;
    if (l->n_cannot == 1) {
        if (err)
            *err = l->first_cannot;
        return l->first_cannot.status;
    }
    return mo_fail(err, l->first_cannot.status,
                   "%d ops cannot be run; the first: %.800s", l->n_cannot,
                   l->first_cannot.text);
}

mo_status mo_plan_lower_all_ops(mo_plan_lower_state *l, mo_error *err)
{
    mo_status status = MO_OK;

    for (int id = 0; id < l->g->n_ops && status == MO_OK; id++) {
        mo_error why = { 0 };

        status = lower_op(l, id, &why);
        if (status != MO_OK)
            status = note_failure(l, id, status, &why, err);
    }
    return status == MO_OK ? judge(l, err) : status;
}
