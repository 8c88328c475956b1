/* SPDX-License-Identifier: Apache-2.0 */
#include "base/array.h"
#include "schedule/schedule.h"
#include "solvers/search/exact/task_model_build.h"

/*
 * Precedence constraints of the task model: propagators of heads and tails over
 * alternative modes (RCPSP with modes).  A precedence follows a flow; the modes
 * of an op are its devices.
 */

static mo_status begin_precedence(mo_exact_builder *b, int target,
                                  int condition, mo_error *err)
{
    mo_exact_model *m = b->m;
    mo_status status = MO_ARRAY_GROW(m->precedences, m->n_precedences,
                                     m->precedences_room, err);

    if (status == MO_OK)
        m->precedences[m->n_precedences++] =
            (mo_exact_precedence){ target, condition, MO_EXACT_NO_LITERAL,
                                   (int) m->n_alternatives, 0 };
    return status;
}

static mo_status add_alternative(mo_exact_builder *b,
                                 mo_exact_alternative alternative,
                                 mo_error *err)
{
    mo_exact_model *m = b->m;
    mo_status status = MO_ARRAY_GROW(m->alternatives, m->n_alternatives,
                                     m->alternatives_room, err);

    if (status == MO_OK) {
        m->alternatives[m->n_alternatives++] = alternative;
        m->precedences[m->n_precedences - 1].n++;
    }
    return status;
}

static int op_mode_on(const mo_exact_builder *b, int op, int device)
{
    return b->m->op_mode[op * b->m->x->n_devices + device];
}

/* Alternative: head or tail of an op on a device plus its length. */
static mo_exact_alternative after_op(const mo_exact_builder *b, int op,
                                     int device, bool is_head)
{
    int mode = op_mode_on(b, op, device);

    return (mo_exact_alternative){ .literal = b->m->modes[mode].literal,
                                   .bound = is_head ? MO_EXACT_HEAD(mode)
                                                    : MO_EXACT_TAIL(mode),
                                   .bound2 = -1,
                                   .add_ns = b->m->modes[mode].length_ns };
}

static int transfer_item(const mo_exact_builder *b, int flow)
{
    return b->m->regime.tensors == MO_TENSORS_ONCE ? b->m->x->flows[flow].tensor
                                                   : flow;
}

/* Head of the reader on one device, given the producer on another. */
static mo_exact_alternative head_alternative(const mo_exact_builder *b,
                                             int flow, int from, int to)
{
    const mo_flow *f = &b->m->x->flows[flow];
    mo_exact_alternative alternative = after_op(b, f->from, from, true);

    if (from == to)
        return alternative;
    if (b->m->has_transfer_tasks) {
        int send =
            *mo_exact_transfer_mode_slot(b, transfer_item(b, flow), from, to);

        return (mo_exact_alternative){ .literal = b->m->modes[send].literal,
                                       .bound = MO_EXACT_HEAD(send),
                                       .bound2 = -1,
                                       .add_ns = b->m->modes[send].length_ns };
    }
    alternative.add_ns +=
        mo_schedule_flow_ns(b->m->x, &b->m->regime, flow, from, to);
    return alternative;
}

/* Tail of the producer, given the reader. The tail of a transfer with several
 * readers holds for the first of them only: that of this reader is used too. */
static mo_exact_alternative tail_alternative(const mo_exact_builder *b,
                                             int flow, int from, int to)
{
    const mo_flow *f = &b->m->x->flows[flow];
    mo_exact_alternative alternative = after_op(b, f->to, to, false);
    int64_t sent_ns;

    if (from == to)
        return alternative;
    sent_ns = mo_schedule_flow_ns(b->m->x, &b->m->regime, flow, from, to);
    alternative.add_ns += sent_ns;
    if (b->m->has_transfer_tasks) {
        int send =
            *mo_exact_transfer_mode_slot(b, transfer_item(b, flow), from, to);

        alternative.literal = b->m->modes[send].literal;
        alternative.bound2 = MO_EXACT_TAIL(send);
        alternative.add2_ns = sent_ns;
    }
    return alternative;
}

static mo_status add_flow_precedences(mo_exact_builder *b, int flow,
                                      bool is_head, mo_error *err)
{
    mo_status status = MO_OK;

    for (int k = 0; k < b->m->x->n_devices && status == MO_OK; k++) {
        const mo_flow *f = &b->m->x->flows[flow];
        int target = is_head ? f->to : f->from,
            other = is_head ? f->from : f->to;
        int mode = op_mode_on(b, target, k);

        if (mode >= 0) {
            status = begin_precedence(
                b, is_head ? MO_EXACT_HEAD(mode) : MO_EXACT_TAIL(mode),
                MO_EXACT_NO_LITERAL, err);
            for (int j = 0; j < b->m->x->n_devices && status == MO_OK; j++)
                if (op_mode_on(b, other, j) >= 0 &&
                    (j == k || !mo_exact_is_colocated(b->m, f)))
                    status = add_alternative(
                        b,
                        is_head ? head_alternative(b, flow, j, k)
                                : tail_alternative(b, flow, k, j),
                        err);
        }
    }
    return status;
}

static mo_status add_simple_precedence(mo_exact_builder *b, int target,
                                       int condition,
                                       mo_exact_alternative alternative,
                                       mo_error *err)
{
    mo_status status = begin_precedence(b, target, condition, err);

    return status == MO_OK ? add_alternative(b, alternative, err) : status;
}

static mo_status add_transfer_precedences(mo_exact_builder *b, int mode,
                                          mo_error *err)
{
    const mo_exact_mode *it = &b->m->modes[mode];
    const mo_exact_task *task = &b->m->tasks[it->task];
    mo_status status;

    if (!it->is_real)
        return MO_OK;
    status =
        add_simple_precedence(b, MO_EXACT_HEAD(mode), MO_EXACT_NO_LITERAL,
                              after_op(b, task->source, it->from, true), err);
    if (status != MO_OK)
        return status;
    if (task->to != MO_FREE) {
        /* Tail of a transfer: at least one of its readers is on the device, and
         * each one there counts. */
        const mo_instance *x = b->m->x;
        int tensor = b->m->tasks[b->m->modes[mode].task].item;
        int to = b->m->modes[mode].to;
        status =
            begin_precedence(b, MO_EXACT_TAIL(mode), MO_EXACT_NO_LITERAL, err);

        for (int q = x->tensor_start[tensor];
             q < x->tensor_start[tensor + 1] && status == MO_OK; q++)
            if (!mo_exact_is_colocated(b->m, &x->flows[q]) &&
                op_mode_on(b, x->flows[q].to, to) >= 0)
                status = add_alternative(
                    b, after_op(b, x->flows[q].to, to, false), err);
        for (int q = x->tensor_start[tensor];
             q < x->tensor_start[tensor + 1] && status == MO_OK; q++)
            if (!mo_exact_is_colocated(b->m, &x->flows[q]) &&
                op_mode_on(b, x->flows[q].to, to) >= 0) {
                mo_exact_alternative alternative =
                    after_op(b, x->flows[q].to, to, false);

                status = add_simple_precedence(b, MO_EXACT_TAIL(mode),
                                               alternative.literal, alternative,
                                               err);
            }
        return status;
    }
    return add_simple_precedence(
        b, MO_EXACT_TAIL(mode), MO_EXACT_NO_LITERAL,
        after_op(b, b->m->x->flows[task->item].to, it->to, false), err);
}

mo_status mo_exact_build_precedences(mo_exact_builder *b, mo_error *err)
{
    const mo_exact_model *m = b->m;
    int n_flows = m->x->n_flows;
    mo_status status = MO_OK;

    for (int q = 0; q < n_flows && status == MO_OK; q++)
        status = add_flow_precedences(b, q, true, err);
    for (int q = n_flows - 1; q >= 0 && status == MO_OK; q--)
        status = add_flow_precedences(b, q, false, err);
    for (size_t t = (size_t) m->x->n; t < m->n_tasks; t++)
        for (int i = 0; i < m->tasks[t].n && status == MO_OK; i++)
            status = add_transfer_precedences(b, m->tasks[t].first + i, err);
    return status;
}
