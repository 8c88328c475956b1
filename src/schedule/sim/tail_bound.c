/* SPDX-License-Identifier: Apache-2.0 */
#include "schedule/sim/tail_bound.h"

#include <stdlib.h>

static int64_t remaining_of(const mo_sim *s, int op)
{
    const mo_instance *x = s->x;
    const int *kinds =
        x->comm.pair_kind + (int64_t) s->device[op] * s->n_devices;
    int64_t tail_ns = 0;

    for (int q = x->out_start[op]; q < x->out_start[op + 1]; q++) {
        int reader = x->flows[q].to, to = s->device[reader];
        int64_t ns =
            x->comm.ns[(int64_t) s->row[q] * x->comm.n_kinds + kinds[to]] +
            s->prune.remaining_ns[reader];

        tail_ns = ns > tail_ns ? ns : tail_ns;
    }
    return mo_sim_p_ns(s, op) + tail_ns;
}

static void lower_min_tail(mo_sim *s, int op)
{
    int64_t *least_ns = &s->prune.min_tail_ns[s->device[op]];
    int64_t tail_ns = s->prune.remaining_ns[op] - mo_sim_p_ns(s, op);

    if (tail_ns < *least_ns)
        *least_ns = tail_ns;
}

void mo_tail_bounds_find_least(mo_sim *s)
{
    for (int k = 0; k < s->n_devices; k++)
        s->prune.min_tail_ns[k] = INT64_MAX / 4;
    for (int i = 0; i < s->n; i++)
        lower_min_tail(s, i);
}

void mo_tail_bounds_find(mo_sim *s)
{
    for (int i = s->n - 1; i >= 0; i--)
        s->prune.remaining_ns[i] = remaining_of(s, i);
    mo_tail_bounds_find_least(s);
}

mo_status mo_tail_bounds_open(mo_tail_bounds *t, mo_sim *sim, mo_error *err)
{
    size_t n = (size_t) sim->n + 1;

    *t = (mo_tail_bounds){ .sim = sim, .top = -1 };
    t->stale = calloc(n / 64 + 1, sizeof *t->stale);
    t->is_noted = calloc(n, sizeof *t->is_noted);
    t->op = malloc(n * sizeof *t->op);
    t->old_ns = malloc(n * sizeof *t->old_ns);
    t->old_least_ns =
        malloc(((size_t) sim->n_devices + 1) * sizeof *t->old_least_ns);
    return t->stale && t->is_noted && t->op && t->old_ns && t->old_least_ns
               ? MO_OK
               : mo_fail_memory(err);
}

void mo_tail_bounds_close(mo_tail_bounds *t)
{
    free(t->old_least_ns);
    free(t->old_ns);
    free(t->op);
    free(t->is_noted);
    free(t->stale);
}

static void mark_stale(mo_tail_bounds *t, int op)
{
    t->stale[op / 64] |= UINT64_C(1) << op % 64;
    if (op / 64 > t->top)
        t->top = op / 64;
}

static void mark_producers_stale(mo_tail_bounds *t, int op)
{
    const mo_instance *x = t->sim->x;

    for (int j = x->in_start[op]; j < x->in_start[op + 1]; j++)
        mark_stale(t, x->flows[x->in_flows[j]].from);
}

void mo_tail_bounds_op_moved(mo_tail_bounds *t, int op)
{
    mark_stale(t, op);
    mark_producers_stale(t, op);
}

/* Ops are in topological order: from the last to the first, each is updated
 * after all its readers. */
void mo_tail_bounds_update(mo_tail_bounds *t)
{
    mo_sim *s = t->sim;

    for (int k = 0; k < s->n_devices && !t->has_old; k++)
        t->old_least_ns[k] = s->prune.min_tail_ns[k];
    t->has_old = true;
    for (; t->top >= 0; t->top--)
        while (t->stale[t->top]) {
            int bit = 63 - __builtin_clzll(t->stale[t->top]);

            t->stale[t->top] &= ~(UINT64_C(1) << bit);
            int op = t->top * 64 + bit;
            int64_t remaining_ns = remaining_of(s, op);

            if (remaining_ns != s->prune.remaining_ns[op]) {
                if (!t->is_noted[op]) {
                    t->is_noted[op] = true;
                    t->op[t->n] = op;
                    t->old_ns[t->n++] = s->prune.remaining_ns[op];
                }
                s->prune.remaining_ns[op] = remaining_ns;
                mark_producers_stale(t, op);
            }
            lower_min_tail(s, op);
        }
}

void mo_tail_bounds_commit(mo_tail_bounds *t)
{
    while (t->n > 0)
        t->is_noted[t->op[--t->n]] = false;
    t->has_old = false;
}

void mo_tail_bounds_rollback(mo_tail_bounds *t)
{
    mo_sim *s = t->sim;

    while (t->n > 0) {
        t->n--;
        s->prune.remaining_ns[t->op[t->n]] = t->old_ns[t->n];
        t->is_noted[t->op[t->n]] = false;
    }
    for (int k = 0; k < s->n_devices && t->has_old; k++)
        s->prune.min_tail_ns[k] = t->old_least_ns[k];
    t->has_old = false;
}
