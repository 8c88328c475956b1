/* SPDX-License-Identifier: Apache-2.0 */
#include "solvers/search/primal/successive_halving.h"

#include <stdbool.h>
#include <stdlib.h>

#include "base/random.h"
#include "schedule/allowed_devices.h"
#include "solvers/search/bound/colgen/branch_and_price.h"
#include "solvers/search/primal/warm_start.h"

enum {
    STARTS = 4,        /* starts for each receiver set, ... */
    MORE_STARTS = 32,  /* ... or for the only one */
    PRICED_POINTS = 4, /* of them, with prices, for one target time: columns
                          with a budget take as long as annealing does */
    MAX_RECEIVERS = 4, /* with more devices the receivers are not enumerated */
    MAX_STARTS = (STARTS << MAX_RECEIVERS) + 1,
    REDUCTION = 4, /* reduction factor */
    LAST_RUN_FACTOR =
        12 /* moves of a run of the last start, in those of the first rung */
};

typedef struct halving {
    const mo_instance *x;
    const mo_regime *regime;
    const mo_primal_halving_options *options;
    const mo_schedule *start;
    mo_primal_warm_start *warm;
    mo_decomp_solution_hint hint;
    bool *receives; /* by device */
    int *receivers; /* devices that are enumerated */
    int n_receivers;
    mo_schedule *starts[MAX_STARTS]; /* best first, between rungs */
    int n;
    int n_runs;
} halving;

static int device_of_end(int op, int device)
{
    return op == MO_FREE ? MO_FREE : device;
}

/* Lists the devices that the shared tensor may go to, if there is one and they
 * are few. */
static void find_receivers(halving *r)
{
    const mo_forkjoin *fork = r->options->fork;
    int n = r->x->n_devices, a = r->options->boundary / n;

    if (fork->broadcast_row < 0 || fork->segment.u == MO_FREE ||
        n - 1 > MAX_RECEIVERS)
        return;
    for (int k = 0; k < n; k++)
        if (k != a)
            r->receivers[r->n_receivers++] = k;
}

/* Returns the makespan plus, with prices, the cost of the resident bytes. */
static double priced_makespan_ns(const halving *r, const mo_schedule *s)
{
    const double *price_ns = r->options->anneal->price_ns;
    double sum_ns = (double) s->makespan_ns;

    for (int i = 0; price_ns && i < r->x->n; i++)
        sum_ns += price_ns[s->device[i]] *
                  (double) mo_regime_resident_bytes(r->x, r->regime->memory, i);
    return sum_ns;
}

static mo_status open_halving(halving *r, mo_error *err)
{
    size_t n = (size_t) r->options->fork->segment.n + 1;
    size_t devices = (size_t) r->x->n_devices;

    r->hint.device = calloc(n, sizeof *r->hint.device);
    r->hint.start_ns = calloc(n, sizeof *r->hint.start_ns);
    r->receives = calloc(devices, sizeof *r->receives);
    r->receivers = calloc(devices, sizeof *r->receivers);
    if (!r->hint.device || !r->hint.start_ns || !r->receives || !r->receivers)
        return mo_fail_memory(err);
    find_receivers(r);
    return mo_primal_warm_start_new(r->x, r->regime, &r->warm, err);
}

static void close_halving(halving *r)
{
    for (int i = 0; i < r->n; i++)
        mo_schedule_free(r->starts[i]);
    mo_primal_warm_start_free(r->warm);
    free(r->hint.device);
    free(r->hint.start_ns);
    free(r->receives);
    free(r->receivers);
}

/* Adds the columns rounded at a point. */
static mo_status add_rounded_start(halving *r,
                                   const mo_cg_relaxation *relaxation,
                                   double point, mo_error *err)
{
    mo_schedule *made = NULL;
    bool suggested = false;
    mo_status status =
        mo_cg_relaxation_round(relaxation, point, &r->hint, &suggested, err);

    if (status == MO_OK && suggested)
        status = mo_primal_warm_start_from_hint(
            r->warm, r->start, &r->options->fork->segment, r->options->boundary,
            &r->hint, &made, err);
    if (made)
        r->starts[r->n++] = made;
    return status;
}

/* Adds the rounded columns for a target time; nothing where the time is proven
 * too short. */
static mo_status add_rounded_starts(halving *r, int64_t time_ns, int points,
                                    double point, mo_error *err)
{
    const mo_forkjoin *fork = r->options->fork;
    int boundary = r->options->boundary, n = r->x->n_devices;
    const double *price_ns = r->options->anneal->price_ns;
    mo_cg_budget budget = { .price_ns = price_ns, .ns = r->options->budget_ns };
    mo_cg_relaxation *relaxation = NULL;
    mo_status status = mo_cg_relaxation_new(
        fork, r->regime, device_of_end(fork->segment.u, boundary / n),
        device_of_end(fork->segment.v, boundary % n), time_ns,
        r->n_receivers > 0 ? r->receives : NULL,
        price_ns && budget.ns > 0 ? &budget : NULL, r->options->anneal->stop,
        &relaxation, err);

    for (int i = 0; i < points && relaxation && status == MO_OK; i++) {
        double at = point + (double) i / points;

        status = add_rounded_start(r, relaxation, at < 1 ? at : at - 1, err);
    }
    mo_cg_relaxation_free(relaxation);
    return status;
}

/* Adds the warm start by the caller's hint. */
static mo_status add_hinted_start(halving *r, mo_error *err)
{
    const mo_primal_halving_options *o = r->options;
    mo_schedule *made = NULL;
    mo_status status = MO_OK;

    if (o->hint)
        status =
            mo_primal_warm_start_from_hint(r->warm, r->start, &o->fork->segment,
                                           o->boundary, o->hint, &made, err);
    if (made)
        r->starts[r->n++] = made;
    return status;
}

/* Target times and rounding points differ from run to run. */
static mo_status add_receiver_set(halving *r, int set, int starts,
                                  mo_error *err)
{
    const mo_primal_halving_options *o = r->options;
    int points = o->anneal->price_ns ? PRICED_POINTS : 1,
        times = starts / points;
    int64_t step_ns = (o->to_ns - o->from_ns) / times;
    mo_random random = { o->anneal->seed };
    int64_t first_ns =
        o->from_ns + (int64_t) (mo_random_unit(&random) * (double) step_ns);
    mo_status status = MO_OK;

    for (int i = 0; i < r->n_receivers; i++)
        r->receives[r->receivers[i]] = set >> i & 1;
    for (int t = 0;
         t < times && status == MO_OK && !mo_stop_reached(o->anneal->stop); t++)
        status = add_rounded_starts(r, first_ns + step_ns * t, points,
                                    mo_random_unit(&random), err);
    return status;
}

/* Returns the set of receivers with a reader of u in the start. */
static int receivers_in_start(const halving *r)
{
    const mo_instance *x = r->x;
    int u = r->options->fork->segment.u, set = 0;

    for (int i = 0; i < r->n_receivers; i++)
        for (int q = x->out_start[u]; q < x->out_start[u + 1]; q++)
            if (r->start->device[x->flows[q].to] == r->receivers[i])
                set |= 1 << i;
    return set;
}

static mo_status add_starts(halving *r, mo_error *err)
{
    bool no_receiver_choice =
        r->n_receivers == 0 && r->options->anneal->price_ns;
    int starts = no_receiver_choice ? MORE_STARTS : STARTS;
    mo_status status = add_hinted_start(r, err);

    if (status == MO_OK && r->options->stay && r->n_receivers > 0)
        return add_receiver_set(r, receivers_in_start(r), MORE_STARTS, err);
    for (int set = 0; set < 1 << r->n_receivers && status == MO_OK; set++)
        status = add_receiver_set(r, set, starts, err);
    return status;
}

/* Anneals start i; when stopped it stays as it is, the best so far. */
static mo_status anneal_start(halving *r, int i, int64_t moves, mo_error *err)
{
    mo_primal_anneal_options options = *r->options->anneal;
    mo_primal_anneal_result annealed = { 0 };
    mo_status status;

    options.moves = moves;
    options.seed = mo_random_seed(
        options.seed, (uint64_t) r->n_runs * MAX_STARTS + (uint64_t) i);
    status = mo_primal_anneal(r->x, r->regime, r->starts[i], &options,
                              &annealed, err);
    if (status != MO_OK)
        return status;
    mo_schedule_free(r->starts[i]);
    r->starts[i] = annealed.schedule;
    return MO_OK;
}

/* Drops all but the first n; those of a last rung move to options->others,
 * unless it is NULL. */
static void drop_starts(halving *r, int n)
{
    mo_primal_halving_others *others =
        r->n <= MO_PRIMAL_MAX_OTHERS ? r->options->others : NULL;

    for (; r->n > n; r->n--) {
        mo_schedule *it = r->starts[r->n - 1];

        if (others && others->n < MO_PRIMAL_MAX_OTHERS)
            others->schedules[others->n++] = it;
        else
            mo_schedule_free(it);
    }
}

/* After the stop a run does no moves, and so has not improved. */
static mo_status anneal_last_start(halving *r, mo_error *err)
{
    int64_t moves = LAST_RUN_FACTOR * r->options->anneal->moves;
    mo_status status = MO_OK;

    for (int vain = 0; vain < r->options->patience && status == MO_OK; vain++) {
        double before_ns = priced_makespan_ns(r, r->starts[0]);

        status = anneal_start(r, 0, moves, err);
        r->n_runs++;
        if (status == MO_OK && priced_makespan_ns(r, r->starts[0]) < before_ns)
            vain = -1;
    }
    return status;
}

/* Insertion sort by priced makespan, stable. */
static void sort_starts(halving *r)
{
    double cost_ns[MAX_STARTS];

    for (int i = 0; i < r->n; i++) {
        mo_schedule *it = r->starts[i];
        double own_ns = priced_makespan_ns(r, it);
        int at = i;

        for (; at > 0 && cost_ns[at - 1] > own_ns; at--) {
            r->starts[at] = r->starts[at - 1];
            cost_ns[at] = cost_ns[at - 1];
        }
        r->starts[at] = it;
        cost_ns[at] = own_ns;
    }
}

static mo_status run_rungs(halving *r, mo_error *err)
{
    int64_t moves = r->options->anneal->moves;
    mo_status status = MO_OK;

    do {
        for (int i = 0; i < r->n && status == MO_OK; i++)
            status = anneal_start(r, i, moves, err);
        sort_starts(r);
        drop_starts(r, (r->n + REDUCTION - 1) / REDUCTION);
        moves *= REDUCTION;
        r->n_runs++;
    } while (r->n > 1 && status == MO_OK);
    return status == MO_OK ? anneal_last_start(r, err) : status;
}

/* Returns the last start, or a copy of the given one if that is shorter. */
static mo_status choose_best(halving *r, mo_schedule **best, mo_error *err)
{
    if (priced_makespan_ns(r, r->starts[0]) >= priced_makespan_ns(r, r->start))
        return mo_schedule_copy(r->x, r->start, best, err);
    *best = r->starts[0];
    r->starts[0] = NULL;
    return MO_OK;
}

mo_status mo_primal_successive_halving(const mo_instance *x,
                                       const mo_regime *regime,
                                       const mo_schedule *start,
                                       const mo_primal_halving_options *options,
                                       mo_schedule **best, mo_error *err)
{
    halving r = {
        .x = x, .regime = regime, .options = options, .start = start
    };
    mo_status status = open_halving(&r, err);

    if (status == MO_OK)
        status = add_starts(&r, err);
    if (status == MO_OK && r.n == 0) {
        /* The given start takes part only if it is the only one: annealed for
         * long already, it would beat all others in the first rungs. */
        status = mo_schedule_copy(r.x, r.start, &r.starts[r.n], err);
        r.n += status == MO_OK;
    }
    if (status == MO_OK)
        status = run_rungs(&r, err);
    if (status == MO_OK)
        status = choose_best(&r, best, err);
    close_halving(&r);
    return status;
}
