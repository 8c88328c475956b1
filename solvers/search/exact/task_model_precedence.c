/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How heads and tails follow from each other along the flows, for every device
 * of the op they are told to, over all devices of the op they come from.
 */
#include "base/array.h"
#include "solvers/search/exact/task_model_build.h"

static mo_status begin_rule(mo_exact_model_builder *b, int target, int given,
                            mo_error *err)
{
    mo_exact_model *m = b->m;
    mo_status status = MO_ARRAY_GROW(m->rules, m->n_rules, m->rules_room, err);

    if (status == MO_OK)
        m->rules[m->n_rules++] =
            (mo_exact_precedence){ target, given, MO_EXACT_NO_LITERAL,
                                   (int) m->n_ways, 0 };
    return status;
}

static mo_status add_way(mo_exact_model_builder *b, mo_exact_alternative way,
                         mo_error *err)
{
    mo_exact_model *m = b->m;
    mo_status status = MO_ARRAY_GROW(m->ways, m->n_ways, m->ways_room, err);

    if (status == MO_OK) {
        m->ways[m->n_ways++] = way;
        m->rules[m->n_rules - 1].n++;
    }
    return status;
}

static int mode_of(const mo_exact_model_builder *b, int op, int device)
{
    return b->m->op_mode[op * b->m->x->n_devices + device];
}

/* From the head of op on a device, or from its tail, over its own time. */
static mo_exact_alternative over_op(const mo_exact_model_builder *b, int op,
                                    int device, bool is_head)
{
    int mode = mode_of(b, op, device);

    return (mo_exact_alternative){ .literal = b->m->modes[mode].literal,
                                   .bound = is_head ? MO_EXACT_HEAD(mode)
                                                    : MO_EXACT_TAIL(mode),
                                   .also = -1,
                                   .add_ns = b->m->modes[mode].length_ns };
}

static int item_of(const mo_exact_model_builder *b, int flow)
{
    return b->m->regime.tensors == MO_TENSORS_ONCE ? b->m->x->flows[flow].tensor
                                                   : flow;
}

static int64_t flow_ns(const mo_exact_model_builder *b, int flow, int from,
                       int to)
{
    const mo_instance *x = b->m->x;

    return b->m->regime.tensors == MO_TENSORS_ONCE
               ? mo_instance_tensor_ns(x, x->flows[flow].tensor, from, to)
               : mo_instance_flow_ns(x, flow, from, to);
}

static bool stays(const mo_exact_model_builder *b, const mo_flow *f)
{
    return b->m->units->of_op[f->from] == b->m->units->of_op[f->to];
}

/* What the reader's head on one device has from the producer on another. */
static mo_exact_alternative to_reader(const mo_exact_model_builder *b, int flow,
                                      int from, int to)
{
    const mo_flow *f = &b->m->x->flows[flow];
    mo_exact_alternative way = over_op(b, f->from, from, true);

    if (from == to)
        return way;
    if (b->m->has_sends) {
        int send = *mo_exact_build_transfer_mode(b, item_of(b, flow), from, to);

        return (mo_exact_alternative){ .literal = b->m->modes[send].literal,
                                       .bound = MO_EXACT_HEAD(send),
                                       .also = -1,
                                       .add_ns = b->m->modes[send].length_ns };
    }
    way.add_ns += flow_ns(b, flow, from, to);
    return way;
}

/* And what the producer's tail has from the reader.  A tensor that is sent for
 * several readers knows only what comes after the first of them: what comes
 * after this one is counted, too. */
static mo_exact_alternative to_producer(const mo_exact_model_builder *b,
                                        int flow, int from, int to)
{
    const mo_flow *f = &b->m->x->flows[flow];
    mo_exact_alternative way = over_op(b, f->to, to, false);
    int64_t sent_ns;

    if (from == to)
        return way;
    sent_ns = flow_ns(b, flow, from, to);
    way.add_ns += sent_ns;
    if (b->m->has_sends) {
        int send = *mo_exact_build_transfer_mode(b, item_of(b, flow), from, to);

        way.literal = b->m->modes[send].literal;
        way.also = MO_EXACT_TAIL(send);
        way.also_add_ns = sent_ns;
    }
    return way;
}

static mo_status rule_of_flow(mo_exact_model_builder *b, int flow, int here,
                              bool is_head, mo_error *err)
{
    const mo_flow *f = &b->m->x->flows[flow];
    int target = is_head ? f->to : f->from, other = is_head ? f->from : f->to;
    int mode = mode_of(b, target, here);
    mo_status status;

    if (mode < 0)
        return MO_OK;
    status = begin_rule(b, is_head ? MO_EXACT_HEAD(mode) : MO_EXACT_TAIL(mode),
                        MO_EXACT_NO_LITERAL, err);
    for (int k = 0; k < b->m->x->n_devices && status == MO_OK; k++)
        if (mode_of(b, other, k) >= 0 && (k == here || !stays(b, f)))
            status = add_way(b,
                             is_head ? to_reader(b, flow, k, here)
                                     : to_producer(b, flow, here, k),
                             err);
    return status;
}

static mo_status rules_of_flow(mo_exact_model_builder *b, int flow,
                               bool is_head, mo_error *err)
{
    mo_status status = MO_OK;

    for (int k = 0; k < b->m->x->n_devices && status == MO_OK; k++)
        status = rule_of_flow(b, flow, k, is_head, err);
    return status;
}

static mo_status rule_of_one(mo_exact_model_builder *b, int target, int given,
                             mo_exact_alternative way, mo_error *err)
{
    mo_status status = begin_rule(b, target, given, err);

    return status == MO_OK ? add_way(b, way, err) : status;
}

/* All readers of what is sent: at least one of them is there. */
static mo_status tail_of_tensor(mo_exact_model_builder *b, int mode,
                                mo_error *err)
{
    const mo_instance *x = b->m->x;
    int tensor = b->m->tasks[b->m->modes[mode].task].item;
    int to = b->m->modes[mode].to;
    mo_status status =
        begin_rule(b, MO_EXACT_TAIL(mode), MO_EXACT_NO_LITERAL, err);

    for (int q = x->tensor_start[tensor];
         q < x->tensor_start[tensor + 1] && status == MO_OK; q++)
        if (!stays(b, &x->flows[q]) && mode_of(b, x->flows[q].to, to) >= 0)
            status = add_way(b, over_op(b, x->flows[q].to, to, false), err);
    for (int q = x->tensor_start[tensor];
         q < x->tensor_start[tensor + 1] && status == MO_OK; q++)
        if (!stays(b, &x->flows[q]) && mode_of(b, x->flows[q].to, to) >= 0) {
            mo_exact_alternative way = over_op(b, x->flows[q].to, to, false);

            status = rule_of_one(b, MO_EXACT_TAIL(mode), way.literal, way, err);
        }
    return status;
}

static mo_status rules_of_send(mo_exact_model_builder *b, int mode,
                               mo_error *err)
{
    const mo_exact_task_mode *it = &b->m->modes[mode];
    const mo_exact_task *task = &b->m->tasks[it->task];
    mo_status status;

    if (!it->is_real)
        return MO_OK;
    status = rule_of_one(b, MO_EXACT_HEAD(mode), MO_EXACT_NO_LITERAL,
                         over_op(b, task->source, it->from, true), err);
    if (status != MO_OK)
        return status;
    if (task->to != MO_FREE)
        return tail_of_tensor(b, mode, err);
    return rule_of_one(b, MO_EXACT_TAIL(mode), MO_EXACT_NO_LITERAL,
                       over_op(b, b->m->x->flows[task->item].to, it->to, false),
                       err);
}

mo_status mo_exact_build_precedences(mo_exact_model_builder *b, mo_error *err)
{
    const mo_exact_model *m = b->m;
    int n_flows = m->x->n_flows;
    mo_status status = MO_OK;

    for (int q = 0; q < n_flows && status == MO_OK; q++)
        status = rules_of_flow(b, q, true, err);
    for (int q = n_flows - 1; q >= 0 && status == MO_OK; q--)
        status = rules_of_flow(b, q, false, err);
    for (size_t t = (size_t) m->x->n; t < m->n_tasks; t++)
        for (int i = 0; i < m->tasks[t].n && status == MO_OK; i++)
            status = rules_of_send(b, m->tasks[t].first + i, err);
    return status;
}
