/* SPDX-License-Identifier: Apache-2.0 */
#include "solvers/search/primal/load_start.h"

#include <stdlib.h>

#include "base/ablation.h"
#include "base/parallel_for.h"
#include "schedule/heuristic/heft.h"
#include "solvers/search/bound/load/load_bound.h"

enum {
    MAX_DEVICES = 6,
    MAX_WORK = 1 << 18 /* ops of all placements that are scheduled */
};

struct mo_primal_load_start {
    const mo_forkjoin *fork;
    int n_devices;
    int *device; /* by pair of devices and op of the fork's instance */
    bool *found; /* by pair */
};

/* The rounding of all pairs. */
typedef struct rounding {
    mo_primal_load_start *start;
    const mo_regime *regime;
    const mo_stop *stop;
    int64_t *price_ns; /* by op and device */
    mo_status *status; /* by pair */
    mo_error *errors;
} rounding;

static int *devices_of(const mo_primal_load_start *s, int pair)
{
    return s->device + (size_t) pair * (size_t) s->fork->places->x->n;
}

static bool is_end_allowed(const mo_primal_load_start *s, int op, int device)
{
    return op == MO_FREE ? device == 0
                         : mo_allowed_devices_has(s->fork->places, op, device);
}

static void round_pair(void *context, int pair, int thread)
{
    rounding *r = context;
    mo_primal_load_start *s = r->start;
    const mo_bound_segment *segment = &s->fork->segment;
    int a = pair / s->n_devices, b = pair % s->n_devices;
    mo_forkjoin_case at;

    (void) thread;
    if (mo_stop_reached(r->stop) || !is_end_allowed(s, segment->u, a) ||
        !is_end_allowed(s, segment->v, b))
        return;
    at = mo_forkjoin_at(s->fork, a, b);
    r->status[pair] = mo_load_round(&at, r->price_ns, devices_of(s, pair),
                                    &s->found[pair], &r->errors[pair]);
}

static mo_status round_pairs(rounding *r, const double *price_ns, int threads,
                             mo_error *err)
{
    const mo_allowed_devices *places = r->start->fork->places;
    size_t n_devices = (size_t) r->start->n_devices;
    size_t n = (size_t) places->x->n;
    mo_status status = MO_OK;

    r->price_ns = calloc(n + 1, n_devices * sizeof *r->price_ns);
    r->status = calloc(n_devices * n_devices, sizeof *r->status);
    r->errors = calloc(n_devices * n_devices, sizeof *r->errors);
    if (!r->price_ns || !r->status || !r->errors) {
        status = mo_fail_memory(err);
    } else {
        for (int i = 0; i < places->x->n; i++)
            for (int k = 0; k < r->start->n_devices; k++)
                r->price_ns[mo_allowed_devices_index(places, i, k)] =
                    (int64_t) (price_ns[k] *
                               (double) mo_allowed_devices_resident_bytes(
                                   places, i));
        mo_parallel_for(threads, (int) (n_devices * n_devices), round_pair, r);
    }
    for (size_t i = 0; i < n_devices * n_devices && status == MO_OK; i++) {
        status = r->status[i];
        if (status != MO_OK && err)
            *err = r->errors[i];
    }
    free(r->price_ns);
    free(r->status);
    free(r->errors);
    return status;
}

mo_status mo_primal_load_start_new(const mo_forkjoin *fork,
                                   const mo_regime *regime,
                                   const double *price_ns, int threads,
                                   const mo_stop *stop,
                                   mo_primal_load_start **start, mo_error *err)
{
    int n_devices = fork->places->x->n_devices;
    size_t n_pairs = (size_t) n_devices * (size_t) n_devices;
    rounding r = { .regime = regime, .stop = stop };
    mo_status status = MO_OK;

    *start = NULL;
    if (mo_ablated(MO_ABLATION_load_start) || n_devices > MAX_DEVICES ||
        (int64_t) n_pairs * n_devices * fork->places->x->n > MAX_WORK ||
        !mo_forkjoin_has_many_equal_branches(fork))
        return MO_OK;
    r.start = calloc(1, sizeof *r.start);
    if (!r.start)
        return mo_fail_memory(err);
    r.start->fork = fork;
    r.start->n_devices = n_devices;
    r.start->device = calloc((size_t) fork->places->x->n + 1,
                             n_pairs * sizeof *r.start->device);
    r.start->found = calloc(n_pairs, sizeof *r.start->found);
    status = r.start->device && r.start->found
                 ? round_pairs(&r, price_ns, threads, err)
                 : mo_fail_memory(err);
    if (status == MO_OK)
        *start = r.start;
    else
        mo_primal_load_start_free(r.start);
    return status;
}

void mo_primal_load_start_free(mo_primal_load_start *s)
{
    if (!s)
        return;
    free(s->device);
    free(s->found);
    free(s);
}

typedef struct placing {
    const mo_primal_load_start *start;
    const mo_instance *x;
    const mo_regime *regime;
    const double *price_ns;
    bool *is_placed; /* by op: in a branch */
    int *placement;
    double least_ns;
    mo_schedule *best;
} placing;

/* Fills the placement; returns whether it is possible. */
static bool fill_placement(placing *p, int pair, int others)
{
    const mo_primal_load_start *s = p->start;
    const mo_bound_segment *segment = &s->fork->segment;

    for (int i = 0; i < p->x->n; i++) {
        int k = p->is_placed[i]     ? devices_of(s, pair)[i]
                : i == segment->u   ? pair / s->n_devices
                : i == segment->v   ? pair % s->n_devices
                : p->x->pin[i] >= 0 ? p->x->pin[i]
                                    : others;

        if ((p->x->pin[i] != MO_FREE && p->x->pin[i] != k) ||
            p->x->group[i] != MO_FREE ||
            !mo_allowed_devices_has(s->fork->places, i, k))
            return false;
        p->placement[i] = k;
    }
    return true;
}

static mo_status try_placement(placing *p, mo_error *err)
{
    mo_schedule *s = NULL;
    double cost_ns = p->least_ns;
    mo_status status = mo_heft(p->x, p->regime, p->placement, &s, err);

    if (status == MO_OK && s)
        status = mo_schedule_left_shift(p->x, s, err);
    if (status == MO_OK && s) {
        /* The makespan and the price of the resident bytes. */
        double sum_ns = (double) s->makespan_ns;

        for (int i = 0; i < p->x->n; i++)
            sum_ns +=
                p->price_ns[s->device[i]] *
                (double) mo_regime_resident_bytes(p->x, p->regime->memory, i);
        cost_ns = sum_ns;
    }
    if (status == MO_OK && cost_ns < p->least_ns) {
        mo_schedule *worse = p->best;

        p->least_ns = cost_ns;
        p->best = s;
        s = worse;
    }
    mo_schedule_free(s);
    return status;
}

mo_status mo_primal_load_start_schedule(const mo_primal_load_start *s,
                                        const mo_instance *x,
                                        const mo_regime *regime,
                                        const double *price_ns, double below_ns,
                                        mo_schedule **schedule, mo_error *err)
{
    placing p = { .start = s,
                  .x = x,
                  .regime = regime,
                  .price_ns = price_ns,
                  .least_ns = below_ns };
    mo_status status = MO_OK;

    p.is_placed = calloc((size_t) x->n + 1, sizeof *p.is_placed);
    p.placement = calloc((size_t) x->n + 1, sizeof *p.placement);
    if (!p.is_placed || !p.placement) {
        status = mo_fail_memory(err);
    } else {
        for (int c = 0; c < s->fork->n_classes; c++) {
            const mo_forkjoin_class *cls = &s->fork->classes[c];

            for (int i = 0; i < cls->n * cls->count; i++)
                p.is_placed[cls->members[i]] = true;
        }
        for (int pair = 0; pair < s->n_devices * s->n_devices; pair++)
            for (int k = 0;
                 k < s->n_devices && s->found[pair] && status == MO_OK; k++)
                if (fill_placement(&p, pair, k))
                    status = try_placement(&p, err);
    }
    free(p.is_placed);
    free(p.placement);
    if (status == MO_OK)
        *schedule = p.best;
    else
        mo_schedule_free(p.best);
    return status;
}
