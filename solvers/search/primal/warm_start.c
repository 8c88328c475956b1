/* SPDX-License-Identifier: Apache-2.0 */
#include "solvers/search/primal/warm_start.h"

#include <stdbool.h>
#include <stdlib.h>

#include "schedule/sim/sim.h"

typedef struct op_start {
    int64_t start_ns;
    int op;
} op_start;

struct mo_primal_warm_start {
    const mo_instance *x;
    mo_sim *sim;
    mo_sim_plan plan;
    op_start *starts; /* for the ranks */
    int *first;       /* by group: its first op */
};

mo_status mo_primal_warm_start_new(const mo_instance *x,
                                   const mo_regime *regime,
                                   mo_primal_warm_start **warm, mo_error *err)
{
    mo_primal_warm_start *l = calloc(1, sizeof *l);
    size_t n = (size_t) x->n + 1;
    mo_status status = MO_OK;

    if (!l)
        return mo_fail_memory(err);
    l->x = x;
    l->plan.device = calloc(n, sizeof *l->plan.device);
    l->plan.rank = calloc(n, sizeof *l->plan.rank);
    l->starts = calloc(n, sizeof *l->starts);
    l->first = calloc((size_t) x->n_groups + 1, sizeof *l->first);
    if (!l->plan.device || !l->plan.rank || !l->starts || !l->first)
        status = mo_fail_memory(err);
    if (status == MO_OK)
        status = mo_sim_new(x, regime, &l->sim, err);
    if (status == MO_OK)
        *warm = l;
    else
        mo_primal_warm_start_free(l);
    return status;
}

void mo_primal_warm_start_free(mo_primal_warm_start *l)
{
    if (!l)
        return;
    mo_sim_free(l->sim);
    free(l->plan.device);
    free(l->plan.rank);
    free(l->starts);
    free(l->first);
    free(l);
}

static int compare_starts(const void *a, const void *b)
{
    const op_start *s = a, *t = b;

    if (s->start_ns != t->start_ns)
        return s->start_ns < t->start_ns ? -1 : 1;
    return (s->op > t->op) - (s->op < t->op);
}

mo_status mo_primal_warm_start_from_schedule(mo_primal_warm_start *l,
                                             const mo_schedule *model,
                                             int64_t below_ns,
                                             mo_schedule **made, mo_error *err)
{
    mo_schedule *s = NULL;
    mo_status status;
    bool fits = false;

    *made = NULL;
    /* Devices of the schedule, but for pins; ranks by its starts. */
    for (int i = 0; i < model->n; i++) {
        l->starts[i] = (op_start){ model->start_ns[i], i };
        l->plan.device[i] =
            l->x->pin[i] == MO_FREE ? model->device[i] : l->x->pin[i];
    }
    qsort(l->starts, (size_t) model->n, sizeof *l->starts, compare_starts);
    for (int i = 0; i < model->n; i++)
        l->plan.rank[l->starts[i].op] = i;
    if (mo_sim_run(l->sim, &l->plan, below_ns) >= below_ns)
        return MO_OK;
    status = mo_sim_schedule(l->sim, &l->plan, &s, err);
    if (status == MO_OK)
        status = mo_schedule_fits_memory(l->x, s, &fits, err);
    if (status == MO_OK && fits)
        *made = s;
    else
        mo_schedule_free(s);
    return status;
}

static void apply_hint(const mo_primal_warm_start *l,
                       const mo_bound_segment *segment, int boundary,
                       const mo_decomp_solution_hint *hint, mo_schedule *s)
{
    int u = segment->u, v = segment->v, n = l->x->n_devices;
    int64_t begin_ns =
        u == MO_FREE ? 0
                     : s->start_ns[u] + mo_instance_p_ns(l->x, u, s->device[u]);

    for (int i = 0; i < segment->n; i++) {
        s->device[segment->ops[i]] = hint->device[i];
        s->start_ns[segment->ops[i]] = begin_ns + hint->start_ns[i];
    }
    if (u != MO_FREE)
        s->device[u] = boundary / n;
    if (v != MO_FREE)
        s->device[v] = boundary % n;
}

mo_status mo_primal_warm_start_from_hint(mo_primal_warm_start *l,
                                         const mo_schedule *model,
                                         const mo_bound_segment *segment,
                                         int boundary,
                                         const mo_decomp_solution_hint *hint,
                                         mo_schedule **made, mo_error *err)
{
    mo_schedule *copy = NULL;
    mo_status status = mo_schedule_copy(l->x, model, &copy, err);

    *made = NULL;
    if (status != MO_OK)
        return status;
    apply_hint(l, segment, boundary, hint, copy);
    /* Places all ops of a group on the device of its first op. */
    for (int g = 0; g < l->x->n_groups; g++)
        l->first[g] = -1;
    for (int i = 0; i < l->x->n; i++) {
        int group = l->x->group[i];

        if (group == MO_FREE)
            continue;
        if (l->first[group] < 0)
            l->first[group] = i;
        copy->device[i] = copy->device[l->first[group]];
    }
    status = mo_primal_warm_start_from_schedule(l, copy, INT64_MAX, made, err);
    mo_schedule_free(copy);
    return status;
}
