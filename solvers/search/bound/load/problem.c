/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "base/array.h"
#include "solvers/search/bound/load/load_bound_internal.h"

enum {
    MAX_GROUPS = 16,
    MAX_ROUNDS = 6,    /* of taking devices away */
    WEIGHTS = 1 << 30, /* in all, which is more than fine enough */
};

/* At each moment, rows of at most so many weights begin, so that prices are at
 * most so many times what everything takes one after the other; with bases that
 * are no more than that, all fits MO_LOAD_INFINITY. */
#define PRICES ((INT64_C(1) << 59) / (MO_LOAD_MAX_ARRIVALS + 1))

static int64_t longest_ns(const mo_instance *x, int row)
{
    int64_t most = 0;

    for (int c = 0; row >= 0 && c < x->n_kinds; c++)
        if (x->comm_ns[(int64_t) row * x->n_kinds + c] > most)
            most = x->comm_ns[(int64_t) row * x->n_kinds + c];
    return most;
}

static int count_ops(const mo_forkjoin *fork)
{
    int n = 0;

    for (int c = 0; c < fork->n_classes; c++)
        n += fork->classes[c].n;
    return n;
}

static void copy_class(mo_load_problem *f, const mo_allowed_devices *places,
                       const mo_forkjoin_class *class, int first)
{
    for (int j = 0; j < class->n; j++) {
        const mo_forkjoin_op *op = &class->ops[j];
        mo_load_op *to = &f->ops[first + j];

        *to = (mo_load_op){ .reader = MO_FREE,
                            .row = op->row,
                            .u_row = f->a == MO_FREE ? -1 : op->u_row,
                            .count = class->count };
        if (op->reader != MO_FREE)
            to->reader = first + op->reader;
        else if (f->b == MO_FREE)
            to->row = -1;
        to->reads_shared = to->u_row >= 0 && to->u_row == f->shared_row;
        for (int k = 0; k < f->n_devices; k++)
            f->p_ns[mo_load_op_device(f, first + j, k)] =
                mo_allowed_devices_has(places, op->op, k)
                    ? mo_instance_p_ns(f->x, op->op, k)
                    : MO_LOAD_INFINITY;
    }
}

static void copy_classes(mo_load_problem *f, const mo_forkjoin *fork)
{
    int first = 0;

    for (int c = 0; c < fork->n_classes; c++) {
        if (c < MAX_GROUPS)
            f->group_start[f->n_groups++] = first;
        copy_class(f, fork->places, &fork->classes[c], first);
        first += fork->classes[c].n;
    }
    f->group_start[f->n_groups] = first;
}

/* More than everything takes one after the other. */
static int64_t find_total(const mo_load_problem *f)
{
    int64_t total = f->n_devices * longest_ns(f->x, f->shared_row) + 1;

    for (int o = 0; o < f->n; o++) {
        int64_t most = 0;

        for (int k = 0; k < f->n_devices; k++) {
            int64_t p = f->p_ns[mo_load_op_device(f, o, k)];
            if (p < MO_LOAD_INFINITY && p > most)
                most = p;
        }
        most += longest_ns(f->x, f->ops[o].row);
        most += longest_ns(f->x, f->ops[o].u_row);
        total += most * f->ops[o].count;
    }
    return total;
}

mo_status mo_load_problem_init(mo_load_problem *f, const mo_forkjoin *fork,
                               const mo_regime *regime, int a, int b,
                               mo_error *err)
{
    size_t n = (size_t) count_ops(fork) + 1, size = 0;
    size_t devices = (size_t) fork->places->x->n_devices;

    *f = (mo_load_problem){ .x = fork->places->x,
                            .congestion = regime->congestion,
                            .a = a,
                            .b = b,
                            .shared_row = a == MO_FREE ? -1 : fork->shared_row,
                            .n = (int) n - 1,
                            .n_devices = (int) devices };
    f->limit_ns = MO_LOAD_INFINITY;
    if (mo_size_mul(n, devices, &size) && size <= INT32_MAX) {
        f->ops = calloc(n, sizeof *f->ops);
        f->group_start = calloc(MAX_GROUPS + 1, sizeof *f->group_start);
        f->p_ns = calloc(size, 3 * sizeof *f->p_ns);
        f->rank = calloc(devices, sizeof *f->rank);
        f->arrival_ns = calloc(devices + 4 * MO_LOAD_MAX_ARRIVALS + 4,
                               sizeof *f->arrival_ns);
        f->denied = calloc(size, sizeof *f->denied);
        f->first_stage = calloc(size, 2 * sizeof *f->first_stage);
    }
    if (!f->ops || !f->group_start || !f->p_ns || !f->rank || !f->arrival_ns ||
        !f->denied || !f->first_stage) {
        mo_load_problem_clear(f);
        return mo_fail_memory(err);
    }
    f->head_ns = f->p_ns + size;
    f->tail_ns = f->p_ns + 2 * size;
    f->sent_ns = f->arrival_ns + devices;
    f->least_end_ns = f->sent_ns + MO_LOAD_MAX_ARRIVALS;
    f->left_ns = f->least_end_ns + MO_LOAD_MAX_ARRIVALS;
    f->after_ns = f->left_ns + MO_LOAD_MAX_ARRIVALS + 2;
    f->last_stage = f->first_stage + size;
    copy_classes(f, fork);
    f->weights = PRICES / find_total(f);
    if (f->weights > WEIGHTS)
        f->weights = WEIGHTS;
    return MO_OK;
}

void mo_load_problem_clear(mo_load_problem *f)
{
    free(f->ops);
    free(f->group_start);
    free(f->p_ns);
    free(f->rank);
    free(f->arrival_ns);
    free(f->denied);
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
    int at = mo_load_op_device(f, op, device);

    return (mo_load_item){ f->head_ns[at], f->tail_ns[at], f->p_ns[at] };
}

mo_load_item mo_load_item_transfer(const mo_load_problem *f, int op, int from,
                                   int to)
{
    int at = mo_load_op_device(f, op, from), reader = f->ops[op].reader;
    mo_load_item item = { f->head_ns[at] + f->p_ns[at], 0,
                          mo_load_transfer_ns(f, op, from, to) };

    if (reader != MO_FREE) {
        int there = mo_load_op_device(f, reader, to);
        item.tail_ns = f->p_ns[there] + f->tail_ns[there];
    }
    return item;
}

mo_load_item mo_load_item_input(const mo_load_problem *f, int op, int device)
{
    int at = mo_load_op_device(f, op, device);
    mo_load_item item = { 0, f->p_ns[at] + f->tail_ns[at], 0 };

    if (f->ops[op].u_row >= 0 && !f->ops[op].reads_shared)
        item.ns = mo_instance_row_ns(f->x, f->ops[op].u_row, f->a, device);
    return item;
}
