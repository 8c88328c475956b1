/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lowering of single ops: resolution of inputs to ports, lowering, and constant
 * folding of those with known inputs.
 */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "exec/plan/lower/lower_internal.h"
#include "exec/weights/evaluate.h"
#include "exec/weights/missing_inputs.h"

/*
 * Edges, constants and attributes each define some of an op's inputs, by port.
 * An edge without a port can only be the first free port, and only where no
 * other edge could be it, too, or where the op is commutative.
 */
typedef struct op_input {
    int port; /* or MO_PORT_NONE */
    int tensor;
} op_input;

typedef struct input_list {
    mo_plan_lower_state *l;
    int op;
    op_input *items;
    size_t n, room;
} input_list;

static mo_status add_input(void *context, int port, int tensor, mo_error *err)
{
    input_list *all = context;
    mo_status status;

    if (port < MO_PORT_NONE)
        return mo_plan_lower_fail(all->l, all->op, err,
                                  "an input has a name, not a number; give its "
                                  "edge a number as dst_port");
    if (port >= MO_CALL_MAX_OPERANDS || all->n >= MO_CALL_MAX_OPERANDS)
        return mo_plan_lower_fail(all->l, all->op, err,
                                  "it has more than %d inputs",
                                  MO_CALL_MAX_OPERANDS);
    status = MO_ARRAY_GROW(all->items, all->n, all->room, err);
    if (status == MO_OK)
        all->items[all->n++] = (op_input){ port, tensor };
    return status;
}

/* The tensor at output port of id. */
static mo_status add_output_of(input_list *all, int id, int port, int dst_port,
                               mo_error *err)
{
    const int *first = &all->l->first_tensor[id];
    int n = first[1] - first[0];

    if (port == MO_PORT_NONE && n == 1)
        port = 0;
    if (port < 0 || port >= n)
        return mo_plan_lower_fail(
            all->l, all->op, err,
            "which output of '%.80s' it reads is unknown: "
            "give that a shape and a dtype for each output, "
            "and the edge a src_port",
            all->l->g->ops[id].name);
    return add_input(all, dst_port, first[0] + port, err);
}

static mo_status add_missing(input_list *all, const mo_weights_missing *missing,
                             mo_error *err)
{
    mo_plan_lower_state *l = all->l;
    op_input *data = &all->items[0];
    mo_status status = MO_OK;

    /* The input there is may be the other one of two. */
    bool exchanged = missing->n == 1 && data->port == missing->port[0];

    if (missing->n > 0 && !exchanged)
        data->port = missing->data_port;
    if (missing->attrs)
        l->ops[all->op].attrs = missing->attrs;
    for (int i = 0; i < missing->n && status == MO_OK; i++)
        status = mo_plan_lower_constant_input(
            l, all->op, exchanged ? missing->data_port : missing->port[i],
            &missing->desc[i], add_input, all, err);
    return status;
}

static mo_status collect_inputs(input_list *all, mo_error *err)
{
    const mo_graph *g = all->l->g;
    mo_status status = MO_OK;

    for (int i = g->in_start[all->op];
         i < g->in_start[all->op + 1] && status == MO_OK; i++) {
        const mo_edge *edge = &g->edges[g->in_edges[i]];

        status = add_output_of(all, edge->from, g->tensors[edge->tensor].port,
                               edge->dst_port, err);
    }
    for (int f = g->feed_start[all->op];
         f < g->feed_start[all->op + 1] && status == MO_OK; f++) {
        int port = g->feed_port[f];

        status = add_output_of(all, g->feeds[f].from, port,
                               g->feeds[f].dst_port, err);
    }
    if (status == MO_OK)
        status =
            mo_plan_lower_attr_tensors(all->l, all->op, add_input, all, err);
    if (status != MO_OK)
        return status;

    /* Adds the constants that an op with one input lacks, if these may be
     * synthesized or follow from its shapes. */
    mo_plan_lower_state *l = all->l;
    const int *first = &l->first_tensor[all->op];
    mo_weights_partial_op partial = { .op = &l->g->ops[all->op],
                                      .type = l->ops[all->op].type,
                                      .n_out = first[1] - first[0] };
    mo_weights_missing missing = { 0 };

    if (all->n != 1 || partial.n_out < 1)
        return MO_OK;
    partial.in = &l->tensors[all->items[0].tensor].desc;
    partial.out = &l->tensors[first[0]].desc;
    mo_weights_find_missing(&partial, l->scratch, &missing);
    if (missing.determined || mo_weights_may_synthesize(l->source->constants))
        return add_missing(all, &missing, err);
    if (missing.n == 0)
        return MO_OK;
    l->lacks = MO_PLAN_LACKS_WEIGHTS;
    return mo_plan_lower_fail(
        l, all->op, err,
        "has no weights; run with --random-weights 1 to use random ones, or "
        "give their shape by the attribute weights, moirai-graph(5)");
}

/* Returns whether the op is commutative. */
static bool is_commutative(const char *type)
{
    static const char *const types[] = {
        "Add",       "Multiply",   "Maximum", "Minimum",  "LogicalAnd",
        "LogicalOr", "LogicalXor", "Equal",   "NotEqual", "SquaredDifference",
    };

    for (size_t i = 0; type && i < sizeof types / sizeof *types; i++)
        if (strcmp(type, types[i]) == 0)
            return true;
    return false;
}

static mo_status set_port(input_list *all, int *in, int port, int tensor,
                          mo_error *err)
{
    if (in[port] != MO_PLAN_NONE)
        return mo_plan_lower_fail(all->l, all->op, err,
                                  "two edges say that they are input %d", port);
    in[port] = tensor;
    return MO_OK;
}

static mo_status set_numbered_ports(input_list *all, int *in, int n,
                                    int *unnumbered, mo_error *err)
{
    mo_status status = MO_OK;

    *unnumbered = 0;
    for (size_t i = 0; i < all->n && status == MO_OK; i++) {
        const op_input *it = &all->items[i];

        if (it->port == MO_PORT_NONE)
            ++*unnumbered;
        else if (it->port >= n)
            status = mo_plan_lower_fail(
                all->l, all->op, err, "it has an input %d, but none before it",
                it->port);
        else
            status = set_port(all, in, it->port, it->tensor, err);
    }
    return status;
}

/* The order of a concatenation does not matter among random numbers. */
static bool may_take_any_order(const input_list *all)
{
    const char *type = all->l->ops[all->op].type;

    return is_commutative(type) ||
           (type && strcmp(type, "Concat") == 0 &&
            mo_weights_may_synthesize(all->l->source->constants));
}

static mo_status arrange_inputs(input_list *all, mo_error *err)
{
    mo_plan_lower_op *op = &all->l->ops[all->op];
    int n = (int) all->n, unnumbered;
    mo_status status;

    op->in = mo_arena_array(all->l->scratch, all->n, sizeof *op->in);
    if (!op->in)
        return mo_fail_memory(err);
    for (int i = 0; i < n; i++)
        op->in[i] = MO_PLAN_NONE;
    status = set_numbered_ports(all, op->in, n, &unnumbered, err);
    if (status == MO_OK) {
        int *in = op->in;
        int port = 0;

        if (unnumbered > 1 && !may_take_any_order(all))
            status = mo_plan_lower_fail(
                all->l, all->op, err,
                "nothing tells its inputs apart; give its edges "
                "a dst_port");
        else {
            for (size_t i = 0; i < all->n && unnumbered > 0; i++) {
                if (all->items[i].port != MO_PORT_NONE)
                    continue;
                while (in[port] != MO_PLAN_NONE)
                    port++;
                in[port] = all->items[i].tensor;
            }
        }
    }
    if (status == MO_OK)
        op->n_in = n;
    return status;
}

/* An op with types, shapes and constants of its operands; arrays in scratch. */
typedef struct op_context {
    mo_op_site site;
    mo_tensor_desc *in, *out;
    const mo_tensor_dense **value;
    bool all_known; /* of its inputs, one at least */
} op_context;

static bool is_type(const mo_plan_lower_op *op, const char *type)
{
    return op->type && strcmp(op->type, type) == 0;
}

/* which: "input" or "output". */
static mo_status check_static(mo_plan_lower_state *l, int id, const char *which,
                              int number, const mo_tensor_desc *desc,
                              mo_error *err)
{
    if (desc->shape.rank >= 0)
        return MO_OK;
    l->lacks = MO_PLAN_LACKS_SHAPES;
    return mo_plan_lower_fail(
        l, id, err,
        "its %s %d has no fixed shape, or a dtype that cannot be run; give the "
        "op both, moirai-graph(5)",
        which, number);
}

/* Returns whether an input has no shape because the op that makes it has
 * none, which is reported there. */
static bool lacks_input_shape(const mo_plan_lower_state *l, int id)
{
    const mo_graph *g = l->g;

    for (int i = g->in_start[id]; i < g->in_start[id + 1]; i++) {
        const mo_edge *edge = &g->edges[g->in_edges[i]];
        const int *first = &l->first_tensor[edge->from];
        int port = g->tensors[edge->tensor].port, n = first[1] - first[0];

        port = port < 0 ? 0 : port;
        if (n == 0 ||
            (port < n && l->tensors[first[0] + port].desc.shape.rank < 0))
            return true;
    }
    return false;
}

static mo_status fill_inputs(mo_plan_lower_state *l, int id, op_context *s,
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
        status = check_static(l, id, "input", i, &s->in[i], err);
        if (status != MO_OK)
            return status;
    }
    return MO_OK;
}

static mo_status check_outputs(mo_plan_lower_state *l, int id, mo_error *err)
{
    mo_status status = MO_OK;

    for (int i = 0; status == MO_OK && i < l->ops[id].n_out; i++)
        status = check_static(l, id, "output", i,
                              &l->tensors[l->first_tensor[id] + i].desc, err);
    return status;
}

static mo_status make_context(mo_plan_lower_state *l, int id, op_context *s,
                              mo_error *err)
{
    const mo_plan_lower_op *op = &l->ops[id];
    size_t n_in = (size_t) op->n_in, n_out = (size_t) op->n_out;
    mo_status status;

    if (!op->type)
        return mo_plan_lower_fail(l, id, err, "nobody knows what it does");
    s->in = mo_arena_array(l->scratch, n_in, sizeof *s->in);
    s->out = mo_arena_array(l->scratch, n_out, sizeof *s->out);
    s->value = mo_arena_array(l->scratch, n_in, sizeof *s->value);
    if (!s->in || !s->out || !s->value)
        return mo_fail_memory(err);
    status = fill_inputs(l, id, s, err);
    if (status == MO_OK)
        status = check_outputs(l, id, err);
    for (int i = 0; i < op->n_out; i++)
        s->out[i] = l->tensors[l->first_tensor[id] + i].desc;
    s->site = (mo_op_site){ .name = l->g->ops[id].name,
                            .type = op->type,
                            .attrs = op->attrs,
                            .n_in = op->n_in,
                            .n_out = op->n_out,
                            .in = s->in,
                            .out = s->out,
                            .value = s->value };
    return status;
}

/* Returns whether folding would replace a small constant by a much larger one,
 * as for a broadcast scalar: the op stays a call. */
static bool is_expansion(const mo_op_site *site)
{
    enum { LARGE_BYTES = 64 << 20, GROWTH = 16 };
    int64_t in = 0, out = 0;

    for (int i = 0; i < site->n_in; i++)
        if (!mo_int64_add(in, mo_tensor_desc_bytes(&site->in[i]), &in))
            return false;
    for (int i = 0; i < site->n_out; i++)
        if (!mo_int64_add(out, mo_tensor_desc_bytes(&site->out[i]), &out))
            return true;
    return out > LARGE_BYTES && out / GROWTH > in;
}

/* Results of ShapeOf are static. */
static mo_status fold_shape(mo_plan_lower_state *l, int id, const op_context *s,
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

    /* Allocates a constant that the plan owns. */
    const mo_tensor_desc *desc = &s->out[0];
    mo_tensor_dense **known = &kept;
    enum { ALIGNMENT = 64 };
    size_t bytes = (size_t) mo_tensor_desc_bytes(desc);
    mo_tensor_dense *made = mo_arena_alloc(l->plan->arena, sizeof *made);
    char *data = mo_arena_alloc(l->plan->arena, bytes + ALIGNMENT);

    if (!made || !data)
        status = mo_fail_memory(err);
    else {
        data += ALIGNMENT - (uintptr_t) data % ALIGNMENT;
        *made = (mo_tensor_dense){ .desc = *desc, .data = data };
        *known = made;
        status = MO_OK;
    }
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
    op_context s = { 0 };
    mo_status status = MO_OK;

    if (op->n_out == 0 && !is_type(op, "Result")) {
        l->lacks = MO_PLAN_LACKS_SHAPES;
        return mo_plan_lower_fail(l, id, err,
                                  "its outputs have no shapes; give it shape "
                                  "and dtype, moirai-graph(5)");
    }
    if (lacks_input_shape(l, id))
        return check_outputs(l, id, err);

    /* Fills n_in and in of op from edges, constants and attributes. */
    input_list all = { .l = l, .op = id };
    status = collect_inputs(&all, err);

    if (status == MO_OK)
        status = arrange_inputs(&all, err);
    free(all.items);
    if (status != MO_OK || is_type(op, "Parameter") || is_type(op, "Result"))
        return status;
    status = make_context(l, id, &s, err);
    if (status != MO_OK)
        return status;
    if (is_type(op, "ShapeOf"))
        return fold_shape(l, id, &s, err);
    if (s.all_known && !is_expansion(&s.site)) {
        /* Constant folding: evaluates an op with constant inputs only. The plan
         * owns the results. */
        mo_weights_store *constants = l->source->constants;
        const mo_weights_limit limit = mo_weights_computed_limit(constants);
        int n = s.site.n_out;
        mo_tensor_dense *outputs = calloc((size_t) n + 1, sizeof *outputs);
        status = outputs ? mo_weights_eval_op(&s.site, &limit, outputs, err)
                         : mo_fail_memory(err);

        for (int i = 0; i < n && status == MO_OK; i++) {
            mo_weights_add_computed(constants,
                                    mo_tensor_desc_bytes(&outputs[i].desc));
            status = mo_plan_adopt_constant(
                l->plan, &outputs[i],
                &l->tensors[l->first_tensor[id] + i].known, err);
        }
        for (int i = 0; i < n && outputs; i++)
            mo_tensor_clear(&outputs[i]);
        free(outputs);
        if (status != MO_OK)
            mo_error_set_location(err, NULL, l->g->ops[id].line);
        return status;
    }
    if (is_type(op, "Const"))
        return mo_plan_lower_fail(
            l, id, err,
            "it is not marked as a constant (\"constant\" in "
            "moirai-graph(5))");
    return mo_lower_operator(&s.site, l->scratch, &op->lowered, err);
}

mo_status mo_plan_lower_all_ops(mo_plan_lower_state *l, mo_error *err)
{
    mo_status status = MO_OK;

    for (int id = 0; id < l->g->n_ops && status == MO_OK; id++) {
        mo_error why = { 0 };

        l->lacks = MO_PLAN_LACKS_NOTHING;
        status = lower_op(l, id, &why);
        if (status != MO_OK)
            status = mo_plan_lower_note_failure(l, id, status, &why, err);
    }
    return status == MO_OK ? mo_plan_lower_report_failures(l, err) : status;
}
