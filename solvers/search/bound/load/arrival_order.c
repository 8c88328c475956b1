/* SPDX-License-Identifier: Apache-2.0 */
#include "solvers/search/bound/load/load_bound_internal.h"

enum { MAX_ROUNDS = 6 }; /* of taking devices away */

/* Where the shared tensor is, and when. */
static void find_arrivals(mo_load_problem *f)
{
    const mo_load_arrival_order *order = &f->order;
    int64_t now_ns = 0;

    for (int k = 0; k < f->n_devices; k++) {
        f->rank[k] = -1;
        f->arrival_ns[k] = k == f->a ? 0 : MO_LOAD_INFINITY;
    }
    for (int j = 0; j < order->n; j++) {
        int k = order->device[j];

        f->rank[k] = j;
        f->sent_ns[j] = mo_instance_row_ns(f->x, f->shared_row, f->a, k);
        f->arrival_ns[k] = now_ns += f->sent_ns[j];
        f->after_ns[j + 1] = now_ns;
    }
    for (int k = 0; f->shared_row >= 0 && order->open && k < f->n_devices; k++)
        if (k != f->a && f->rank[k] < 0)
            f->arrival_ns[k] =
                now_ns + mo_instance_row_ns(f->x, f->shared_row, f->a, k);
}

/* When the output of op can be on a device. */
static int64_t output_ns(const mo_load_problem *f, int op, int to)
{
    int64_t least = MO_LOAD_INFINITY;

    for (int k = 0; k < f->n_devices; k++) {
        int at = mo_load_op_device(f, op, k);
        int64_t ns;

        if (!mo_load_can_run(f, op, k))
            continue;
        ns = f->head_ns[at] + f->p_ns[at] + mo_load_transfer_ns(f, op, k, to);
        if (ns < least)
            least = ns;
    }
    return least;
}

/* An op's inputs have raised its heads when it comes to itself. */
static void find_heads(mo_load_problem *f)
{
    for (int o = 0; o < f->n; o++)
        for (int k = 0; k < f->n_devices; k++)
            f->head_ns[mo_load_op_device(f, o, k)] =
                f->ops[o].reads_shared ? f->arrival_ns[k]
                                       : mo_load_item_input(f, o, k).ns;
    for (int o = 0; o < f->n; o++) {
        int reader = f->ops[o].reader;

        for (int k = 0; k < f->n_devices; k++)
            if (f->denied[mo_load_op_device(f, o, k)])
                f->head_ns[mo_load_op_device(f, o, k)] = MO_LOAD_INFINITY;
        for (int k = 0; reader != MO_FREE && k < f->n_devices; k++) {
            int64_t ns = output_ns(f, o, k);
            int64_t *head_ns = &f->head_ns[mo_load_op_device(f, reader, k)];
            if (ns > *head_ns)
                *head_ns = ns;
        }
    }
}

static int64_t tail_ns(const mo_load_problem *f, int op, int device)
{
    int reader = f->ops[op].reader;
    int64_t least = MO_LOAD_INFINITY;

    if (reader == MO_FREE)
        return f->b == MO_FREE ? 0 : mo_load_transfer_ns(f, op, device, f->b);
    for (int k = 0; k < f->n_devices; k++) {
        int at = mo_load_op_device(f, reader, k);
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

static void find_tails(mo_load_problem *f)
{
    for (int o = f->n - 1; o >= 0; o--)
        for (int k = 0; k < f->n_devices; k++)
            f->tail_ns[mo_load_op_device(f, o, k)] = tail_ns(f, o, k);
}

/* An order with a device on which nothing can read the tensor is none. */
static bool is_order(mo_load_problem *f)
{
    for (int j = 0; j < f->order.n; j++) {
        int k = f->order.device[j];

        f->least_end_ns[j] = MO_LOAD_INFINITY;
        for (int o = 0; o < f->n; o++)
            if (f->ops[o].reads_shared && mo_load_can_run(f, o, k) &&
                f->tail_ns[mo_load_op_device(f, o, k)] < f->least_end_ns[j])
                f->least_end_ns[j] = f->tail_ns[mo_load_op_device(f, o, k)];
        if (f->least_end_ns[j] >= MO_LOAD_INFINITY)
            return false;
    }
    return true;
}

static mo_load_item send_shared(const mo_load_problem *f, int rank)
{
    int device = f->order.device[rank];
    mo_load_item item = { f->arrival_ns[device] - f->sent_ns[rank],
                          MO_LOAD_INFINITY, f->sent_ns[rank] };

    for (int o = 0; o < f->n; o++) {
        int at = mo_load_op_device(f, o, device);
        if (f->ops[o].reads_shared && mo_load_can_run(f, o, device) &&
            f->p_ns[at] + f->tail_ns[at] < item.tail_ns)
            item.tail_ns = f->p_ns[at] + f->tail_ns[at];
    }
    return item;
}

/* What comes behind each moment: the tensor's further ways, and then whoever
 * waits for it at the end of one of them. */
static void find_left(mo_load_problem *f)
{
    int n = f->order.n;

    f->left_ns[n + 1] = 0;
    for (int j = n; j > 0; j--) {
        int64_t next_ns = j < n ? f->sent_ns[j] + f->left_ns[j + 1] : 0;
        int64_t here_ns;

        f->shared[j - 1] = send_shared(f, j - 1);
        here_ns = f->shared[j - 1].tail_ns;
        f->left_ns[j] = next_ns > here_ns ? next_ns : here_ns;
    }
    f->left_ns[0] = f->path_ns;
}

/* What the branch of that last op takes. */
static int64_t branch_ns(const mo_load_problem *f, int op)
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

/* Denies ops the devices on which the limit leaves them no time; returns how
 * many that were. */
static int deny(mo_load_problem *f)
{
    int n = 0;

    for (int o = 0; o < f->n; o++)
        for (int k = 0; k < f->n_devices; k++) {
            mo_load_item run = mo_load_item_compute(f, o, k);

            if (!mo_load_can_run(f, o, k) ||
                run.head_ns + run.ns + run.tail_ns <= f->limit_ns)
                continue;
            f->denied[mo_load_op_device(f, o, k)] = true;
            n++;
        }
    return n;
}

/* Between u's end and v's start; what is denied makes it longer for others. */
static void find_sides(mo_load_problem *f)
{
    for (int i = 0; i < f->n * f->n_devices; i++)
        f->denied[i] = f->p_ns[i] >= MO_LOAD_INFINITY;
    f->denies = false;
    for (int round = 0; round < MAX_ROUNDS; round++) {
        find_heads(f);
        find_tails(f);
        if (deny(f) == 0)
            break;
        f->denies = true;
    }
}

/* An op is in no stage before the tensor that it reads is there, in none that
 * is over, within the limit, before it can start, and in none that begins when
 * it is too late for it. */
static void find_stages(mo_load_problem *f, int op, int device)
{
    int at = mo_load_op_device(f, op, device), first = 0, last = f->order.n;

    if (f->ops[op].reads_shared && device != f->a)
        first = f->rank[device] < 0 ? last : f->rank[device] + 1;
    while (first < last &&
           f->head_ns[at] >= f->limit_ns - f->left_ns[first + 1])
        first++;
    while (last > first &&
           f->after_ns[last] + f->p_ns[at] + f->tail_ns[at] > f->limit_ns)
        last--;
    f->first_stage[at] = (signed char) first;
    f->last_stage[at] = (signed char) last;
}

void mo_load_set_arrival_order(mo_load_problem *f,
                               const mo_load_arrival_order *order)
{
    f->order = *order;
    find_arrivals(f);
    find_sides(f);
    f->path_ns = is_order(f) ? 0 : MO_LOAD_INFINITY;
    for (int o = 0; o < f->n; o++)
        if (f->ops[o].reader == MO_FREE && branch_ns(f, o) > f->path_ns)
            f->path_ns = branch_ns(f, o);
    find_left(f);
    for (int o = 0; o < f->n; o++)
        for (int k = 0; k < f->n_devices; k++)
            if (mo_load_can_run(f, o, k))
                find_stages(f, o, k);
}
