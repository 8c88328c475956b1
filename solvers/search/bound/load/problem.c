/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Data of the load bound: ops and times of a fork-join, and for an order of
 * arrivals the heads, tails and stages that follow from it.
 */
#include <stdlib.h>

#include "base/array.h"
#include "base/minmax.h"
#include "solvers/search/bound/load/load_bound_internal.h"

enum {
    MAX_GROUPS = 16,
    MAX_ROUNDS = 6,       /* of excluding devices */
    MAX_WEIGHT = 1 << 30, /* in all, more than fine enough */
};

/* At each event rows of at most this weight begin, so that costs are at most
 * this many times the serial time; with bases that are no more than that, all
 * sums fit below MO_LOAD_INFINITY. */
#define MAX_PRICE ((INT64_C(1) << 59) / (MO_LOAD_MAX_ARRIVALS + 1))

static int64_t max_transfer_ns(const mo_instance *x, int row)
{
    int64_t most = 0;

    for (int c = 0; row >= 0 && c < x->comm.n_kinds; c++)
        if (x->comm.ns[(int64_t) row * x->comm.n_kinds + c] > most)
            most = x->comm.ns[(int64_t) row * x->comm.n_kinds + c];
    return most;
}

static void copy_class(mo_load_problem *f, const mo_allowed_devices *places,
                       const mo_forkjoin_class *class, int first)
{
    for (int j = 0; j < class->n; j++) {
        const mo_forkjoin_op *op = &class->ops[j];
        mo_load_op *to = &f->ops[first + j];

        *to = (mo_load_op){ .reader = MO_FREE,
                            .row = op->row,
                            .u_row = f->u_device == MO_FREE ? -1 : op->u_row,
                            .count = class->count };
        if (op->reader != MO_FREE)
            to->reader = first + op->reader;
        else if (f->v_device == MO_FREE)
            to->row = -1;
        to->reads_broadcast = to->u_row >= 0 && to->u_row == f->broadcast_row;
        for (int k = 0; k < f->n_devices; k++)
            f->p_ns[mo_load_index(f, first + j, k)] =
                mo_allowed_devices_has(places, op->op, k)
                    ? mo_instance_p_ns(f->x, op->op, k)
                    : MO_LOAD_INFINITY;
    }
}

/* Returns more than the serial time of everything. */
static int64_t serial_ns(const mo_load_problem *f)
{
    int64_t total = f->n_devices * max_transfer_ns(f->x, f->broadcast_row) + 1;

    for (int o = 0; o < f->n; o++) {
        int64_t most = 0;

        for (int k = 0; k < f->n_devices; k++) {
            int64_t p = f->p_ns[mo_load_index(f, o, k)];
            if (p < MO_LOAD_INFINITY && p > most)
                most = p;
        }
        most += max_transfer_ns(f->x, f->ops[o].row);
        most += max_transfer_ns(f->x, f->ops[o].u_row);
        total += most * f->ops[o].count;
    }
    return total;
}

mo_status mo_load_problem_init(mo_load_problem *f, const mo_forkjoin_case *at,
                               mo_error *err)
{
    const mo_forkjoin *fork = at->fork;
    size_t n = 1, size = 0, devices = (size_t) fork->places->x->n_devices;
    int first = 0;

    for (int c = 0; c < fork->n_classes; c++)
        n += (size_t) fork->classes[c].n;
    *f = (mo_load_problem){ .x = fork->places->x,
                            .congestion = fork->places->regime.congestion,
                            .u_device = at->a,
                            .v_device = at->b,
                            .broadcast_row =
                                at->a == MO_FREE ? -1 : fork->broadcast_row,
                            .n = (int) n - 1,
                            .n_devices = (int) devices };
    f->limit_ns = MO_LOAD_INFINITY;
    if (mo_size_mul(n, devices, &size) && size <= INT32_MAX) {
        f->ops = calloc(n, sizeof *f->ops);
        f->group_start = calloc(MAX_GROUPS + 1, sizeof *f->group_start);
        f->p_ns = calloc(size, 4 * sizeof *f->p_ns);
        f->arrivals.rank = calloc(devices, sizeof *f->arrivals.rank);
        f->arrivals.arrival_ns =
            calloc(devices + (size_t) 4 * MO_LOAD_MAX_ARRIVALS + 4,
                   sizeof *f->arrivals.arrival_ns);
        f->excluded = calloc(size, sizeof *f->excluded);
        f->first_stage = calloc(size, 2 * sizeof *f->first_stage);
    }
    if (!f->ops || !f->group_start || !f->p_ns || !f->arrivals.rank ||
        !f->arrivals.arrival_ns || !f->excluded || !f->first_stage) {
        mo_load_problem_clear(f);
        return mo_fail_memory(err);
    }
    f->head_ns = f->p_ns + size;
    f->tail_ns = f->p_ns + 2 * size;
    f->price_ns = f->p_ns + 3 * size;
    f->arrivals.sent_ns = f->arrivals.arrival_ns + devices;
    f->arrivals.least_end_ns = f->arrivals.sent_ns + MO_LOAD_MAX_ARRIVALS;
    f->arrivals.event_tail_ns = f->arrivals.least_end_ns + MO_LOAD_MAX_ARRIVALS;
    f->arrivals.event_min_ns =
        f->arrivals.event_tail_ns + MO_LOAD_MAX_ARRIVALS + 2;
    f->last_stage = f->first_stage + size;
    for (int c = 0; c < fork->n_classes; c++) {
        if (c < MAX_GROUPS)
            f->group_start[f->n_groups++] = first;
        copy_class(f, fork->places, &fork->classes[c], first);
        first += fork->classes[c].n;
    }
    f->group_start[f->n_groups] = first;
    f->max_weight = mo_min_i64(MAX_PRICE / serial_ns(f), MAX_WEIGHT);
    return MO_OK;
}

/* The least price of an op of a class over its branches. */
static int64_t least_member_price(const mo_forkjoin_class *class, int op,
                                  int n_devices, int device,
                                  const int64_t *price_ns)
{
    int64_t least = INT64_MAX;

    for (int r = 0; r < class->count; r++) {
        int64_t member = class->members[r * class->n + op];

        least = mo_min_i64(least, price_ns[member * n_devices + device]);
    }
    return least;
}

void mo_load_problem_set_prices(mo_load_problem *f, const mo_forkjoin *fork,
                                const int64_t *price_ns)
{
    int64_t most_ns = serial_ns(f);
    int o = 0;

    f->is_priced = true;
    f->least_price_ns = 0;
    for (int c = 0; c < fork->n_classes; c++)
        for (int j = 0; j < fork->classes[c].n; j++, o++) {
            const mo_forkjoin_class *class = &fork->classes[c];
            int64_t least = INT64_MAX, most = 0;

            f->ops[o].bytes = 0;
            for (int r = 0; r < class->count; r++)
                f->ops[o].bytes += (double) mo_allowed_devices_resident_bytes(
                    fork->places, class->members[r * class->n + j]);
            for (int k = 0; k < f->n_devices; k++) {
                int64_t price =
                    least_member_price(class, j, f->n_devices, k, price_ns);

                f->price_ns[mo_load_index(f, o, k)] = price;
                most = mo_max_i64(most, price);
                if (f->p_ns[mo_load_index(f, o, k)] < MO_LOAD_INFINITY)
                    least = mo_min_i64(least, price);
            }
            if (least < INT64_MAX)
                f->least_price_ns += least * class->count;
            most_ns += most * class->count;
        }
    f->max_weight = mo_min_i64(MAX_PRICE / most_ns, MAX_WEIGHT);
}

void mo_load_problem_set_cases(mo_load_problem *f)
{
    int64_t serial = serial_ns(f), most_ns = serial * (MO_LOAD_MAX_LIMITS + 1);
    int branches = 1;

    for (int o = 0; o < f->n; o++) {
        int64_t most = 0;

        if (f->ops[o].count > branches)
            branches = f->ops[o].count;
        for (int k = 0; k < f->n_devices; k++)
            most = mo_max_i64(most, f->price_ns[mo_load_index(f, o, k)]);
        most_ns += most * f->ops[o].count;
    }
    /* About the serial time of one branch, more than one op is worth. */
    f->cases.unit_ns = serial / branches + 1;
    f->cases.is_used = true;
    f->max_weight = mo_min_i64(MAX_PRICE / most_ns, MAX_WEIGHT);
}

void mo_load_problem_clear(mo_load_problem *f)
{
    free(f->ops);
    free(f->group_start);
    free(f->p_ns);
    free(f->arrivals.rank);
    free(f->arrivals.arrival_ns);
    free(f->excluded);
    free(f->first_stage);
    *f = (mo_load_problem){ 0 };
}

int64_t mo_load_transfer_ns(const mo_load_problem *f, int op, int from, int to)
{
    return f->ops[op].row < 0
               ? 0
               : mo_instance_row_ns(f->x, f->ops[op].row, from, to);
}

mo_load_item mo_load_item_compute(const mo_load_problem *f, int op, int device)
{
    int at = mo_load_index(f, op, device);

    return (mo_load_item){ f->head_ns[at], f->tail_ns[at], f->p_ns[at] };
}

mo_load_item mo_load_item_transfer(const mo_load_problem *f, int op, int from,
                                   int to)
{
    int at = mo_load_index(f, op, from), reader = f->ops[op].reader;
    mo_load_item item = { f->head_ns[at] + f->p_ns[at], 0,
                          mo_load_transfer_ns(f, op, from, to) };

    if (reader != MO_FREE) {
        int there = mo_load_index(f, reader, to);
        item.tail_ns = f->p_ns[there] + f->tail_ns[there];
    }
    return item;
}

mo_load_item mo_load_item_input(const mo_load_problem *f, int op, int device)
{
    int at = mo_load_index(f, op, device);
    mo_load_item item = { 0, f->p_ns[at] + f->tail_ns[at], 0 };

    if (f->ops[op].u_row >= 0 && !f->ops[op].reads_broadcast)
        item.ns =
            mo_instance_row_ns(f->x, f->ops[op].u_row, f->u_device, device);
    return item;
}

/* Computes on which devices the broadcast tensor arrives, and when. */
static void compute_arrivals(mo_load_problem *f)
{
    const mo_load_arrival_order *order = &f->order;
    int64_t now_ns = 0;

    for (int k = 0; k < f->n_devices; k++) {
        f->arrivals.rank[k] = -1;
        f->arrivals.arrival_ns[k] = k == f->u_device ? 0 : MO_LOAD_INFINITY;
    }
    for (int j = 0; j < order->n; j++) {
        int k = order->device[j];

        f->arrivals.rank[k] = j;
        f->arrivals.sent_ns[j] =
            mo_instance_row_ns(f->x, f->broadcast_row, f->u_device, k);
        f->arrivals.arrival_ns[k] = now_ns += f->arrivals.sent_ns[j];
        f->arrivals.event_min_ns[j + 1] = now_ns;
    }
    for (int k = 0; f->broadcast_row >= 0 && order->open && k < f->n_devices;
         k++)
        if (k != f->u_device && f->arrivals.rank[k] < 0)
            f->arrivals.arrival_ns[k] =
                now_ns +
                mo_instance_row_ns(f->x, f->broadcast_row, f->u_device, k);
}

/* Returns the earliest time at which a device has the output of op. */
static int64_t earliest_output_ns(const mo_load_problem *f, int op, int to)
{
    int64_t least = MO_LOAD_INFINITY;

    for (int k = 0; k < f->n_devices; k++) {
        int at = mo_load_index(f, op, k);
        int64_t ns;

        if (!mo_load_can_run(f, op, k))
            continue;
        ns = f->head_ns[at] + f->p_ns[at] + mo_load_transfer_ns(f, op, k, to);
        if (ns < least)
            least = ns;
    }
    return least;
}

/* Ops are in topological order: the inputs of an op have raised its heads
 * before it is reached. */
static void compute_heads(mo_load_problem *f)
{
    for (int o = 0; o < f->n; o++)
        for (int k = 0; k < f->n_devices; k++)
            f->head_ns[mo_load_index(f, o, k)] =
                f->ops[o].reads_broadcast ? f->arrivals.arrival_ns[k]
                                          : mo_load_item_input(f, o, k).ns;
    for (int o = 0; o < f->n; o++) {
        int reader = f->ops[o].reader;

        for (int k = 0; k < f->n_devices; k++)
            if (f->excluded[mo_load_index(f, o, k)])
                f->head_ns[mo_load_index(f, o, k)] = MO_LOAD_INFINITY;
        for (int k = 0; reader != MO_FREE && k < f->n_devices; k++) {
            int64_t ns = earliest_output_ns(f, o, k);
            int64_t *head_ns = &f->head_ns[mo_load_index(f, reader, k)];
            if (ns > *head_ns)
                *head_ns = ns;
        }
    }
}

static int64_t min_tail_ns(const mo_load_problem *f, int op, int device)
{
    int reader = f->ops[op].reader;
    int64_t least = MO_LOAD_INFINITY;

    if (reader == MO_FREE)
        return f->v_device == MO_FREE
                   ? 0
                   : mo_load_transfer_ns(f, op, device, f->v_device);
    for (int k = 0; k < f->n_devices; k++) {
        int at = mo_load_index(f, reader, k);
        int64_t ns;

        if (!mo_load_can_run(f, reader, k))
            continue;
        ns = mo_load_transfer_ns(f, op, device, k) + f->p_ns[at] +
             f->tail_ns[at];
        if (ns < least)
            least = ns;
    }
    return least;
}

/* An order with a device on which no op can read the tensor is infeasible. */
static bool is_order_feasible(mo_load_problem *f)
{
    for (int j = 0; j < f->order.n; j++) {
        int k = f->order.device[j];

        f->arrivals.least_end_ns[j] = MO_LOAD_INFINITY;
        for (int o = 0; o < f->n; o++)
            if (f->ops[o].reads_broadcast && mo_load_can_run(f, o, k) &&
                f->tail_ns[mo_load_index(f, o, k)] <
                    f->arrivals.least_end_ns[j])
                f->arrivals.least_end_ns[j] =
                    f->tail_ns[mo_load_index(f, o, k)];
        if (f->arrivals.least_end_ns[j] >= MO_LOAD_INFINITY)
            return false;
    }
    return true;
}

/* Computes the least time behind each event: further transfers of the tensor,
 * and then the readers at the end of one of them. */
static void compute_event_tails(mo_load_problem *f)
{
    int n = f->order.n;

    f->arrivals.event_tail_ns[n + 1] = 0;
    for (int j = n; j > 0; j--) {
        int64_t next_ns =
            j < n ? f->arrivals.sent_ns[j] + f->arrivals.event_tail_ns[j + 1]
                  : 0;
        int64_t here_ns;

        int rank = j - 1;
        int device = f->order.device[rank];
        mo_load_item item = { f->arrivals.arrival_ns[device] -
                                  f->arrivals.sent_ns[rank],
                              MO_LOAD_INFINITY, f->arrivals.sent_ns[rank] };

        for (int o = 0; o < f->n; o++) {
            int at = mo_load_index(f, o, device);
            if (f->ops[o].reads_broadcast && mo_load_can_run(f, o, device) &&
                f->p_ns[at] + f->tail_ns[at] < item.tail_ns)
                item.tail_ns = f->p_ns[at] + f->tail_ns[at];
        }
        f->broadcast[j - 1] = item;
        here_ns = f->broadcast[j - 1].tail_ns;
        f->arrivals.event_tail_ns[j] = next_ns > here_ns ? next_ns : here_ns;
    }
    f->arrivals.event_tail_ns[0] = f->path_ns;
}

/* Returns the least time of the branch with that root. */
static int64_t min_branch_ns(const mo_load_problem *f, int op)
{
    int64_t least = MO_LOAD_INFINITY;

    for (int k = 0; k < f->n_devices; k++) {
        mo_load_item run = mo_load_item_compute(f, op, k);

        if (mo_load_can_run(f, op, k) &&
            run.head_ns + run.ns + run.tail_ns < least)
            least = run.head_ns + run.ns + run.tail_ns;
    }
    return least;
}

/* Excludes devices on which an op misses the limit; returns their number. */
static int exclude_late(mo_load_problem *f)
{
    int n = 0;

    for (int o = 0; o < f->n; o++)
        for (int k = 0; k < f->n_devices; k++) {
            mo_load_item run = mo_load_item_compute(f, o, k);

            if (!mo_load_can_run(f, o, k) ||
                run.head_ns + run.ns + run.tail_ns <= f->limit_ns)
                continue;
            f->excluded[mo_load_index(f, o, k)] = true;
            n++;
        }
    return n;
}

void mo_load_set_arrival_order(mo_load_problem *f,
                               const mo_load_arrival_order *order)
{
    f->order = *order;
    compute_arrivals(f);
    /* Heads and tails, and exclusions, which raise those of other ops, until
     * nothing changes. */
    for (int i = 0; i < f->n * f->n_devices; i++)
        f->excluded[i] = f->p_ns[i] >= MO_LOAD_INFINITY;
    for (int i = 0; i < f->cases.n_limits; i++) {
        const mo_load_limit *limit = &f->cases.limits[i];

        for (int k = 0; k < f->n_devices && limit->count == 0; k++)
            if (limit->where.to == MO_FREE &&
                (k == limit->where.device) != limit->elsewhere)
                f->excluded[mo_load_index(f, limit->where.op, k)] = true;
    }
    f->has_exclusions = false;
    for (int round = 0; round < MAX_ROUNDS; round++) {
        compute_heads(f);
        for (int o = f->n - 1; o >= 0; o--)
            for (int k = 0; k < f->n_devices; k++)
                f->tail_ns[mo_load_index(f, o, k)] = min_tail_ns(f, o, k);
        if (exclude_late(f) == 0)
            break;
        f->has_exclusions = true;
    }
    f->path_ns = is_order_feasible(f) ? 0 : MO_LOAD_INFINITY;
    for (int o = 0; o < f->n; o++)
        if (f->ops[o].reader == MO_FREE && min_branch_ns(f, o) > f->path_ns)
            f->path_ns = min_branch_ns(f, o);
    compute_event_tails(f);
    for (int o = 0; o < f->n; o++)
        for (int k = 0; k < f->n_devices; k++)
            if (mo_load_can_run(f, o, k)) {
                /* An op is in no stage before the tensor that it reads is
                 * there, in none that ends, within the limit, before it can
                 * start, and in none that begins too late for it. */
                int at = mo_load_index(f, o, k), first = 0, last = f->order.n;

                if (f->ops[o].reads_broadcast && k != f->u_device)
                    first = f->arrivals.rank[k] < 0 ? last
                                                    : f->arrivals.rank[k] + 1;
                while (first < last &&
                       f->head_ns[at] >=
                           f->limit_ns - f->arrivals.event_tail_ns[first + 1])
                    first++;
                while (last > first && f->arrivals.event_min_ns[last] +
                                               f->p_ns[at] + f->tail_ns[at] >
                                           f->limit_ns)
                    last--;
                f->first_stage[at] = (int8_t) first;
                f->last_stage[at] = (int8_t) last;
            }
}
