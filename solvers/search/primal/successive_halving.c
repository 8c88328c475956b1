/* SPDX-License-Identifier: Apache-2.0 */
#include "solvers/search/primal/successive_halving.h"

#include <stdbool.h>
#include <stdlib.h>

#include "base/ablation.h"
#include "base/minmax.h"
#include "base/random.h"
#include "schedule/allowed_devices.h"
#include "solvers/search/bound/colgen/branch_and_price.h"
#include "solvers/search/bound/load/load_bound.h"
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

/* Adds the warm start by a hint. */
static mo_status
add_hinted_start(halving *r, const mo_decomp_solution_hint *hint, mo_error *err)
{
    mo_schedule *made = NULL;
    mo_status status = mo_primal_warm_start_from_hint(
        r->warm, r->start, &r->options->fork->segment, r->options->boundary,
        hint, &made, err);

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
         t < times && status == MO_OK && !mo_stop_reached(o->anneal->stop);
         t++) {
        /* Adds the rounded columns for a target time; nothing where the time is
         * proven too short. */
        int64_t time_ns = first_ns + step_ns * t;
        double point = mo_random_unit(&random);
        int boundary = r->options->boundary, n = r->x->n_devices;
        const double *price_ns = r->options->anneal->price_ns;
        mo_cg_budget budget = { .price_ns = price_ns,
                                .ns = r->options->budget_ns };
        mo_cg_relaxation *relaxation = NULL;
        const mo_forkjoin_case c =
            mo_forkjoin_at(r->options->fork, boundary / n, boundary % n);
        status = mo_cg_relaxation_new(
            &c, time_ns, r->n_receivers > 0 ? r->receives : NULL,
            price_ns && budget.ns > 0 ? &budget : NULL,
            r->options->anneal->stop, &relaxation, err);

        for (int i = 0; i < points && relaxation && status == MO_OK; i++) {
            double at = point + (double) i / points;
            bool suggested = false;

            status = mo_cg_relaxation_round(relaxation, at < 1 ? at : at - 1,
                                            &r->hint, &suggested, err);
            if (status == MO_OK && suggested)
                status = add_hinted_start(r, &r->hint, err);
        }
        mo_cg_relaxation_free(relaxation);
    }
    return status;
}

static mo_status add_starts(halving *r, mo_error *err)
{
    bool no_receiver_choice =
        r->n_receivers == 0 && r->options->anneal->price_ns;
    int starts = no_receiver_choice ? MORE_STARTS : STARTS;
    mo_status status =
        r->options->hint ? add_hinted_start(r, r->options->hint, err) : MO_OK;

    if (status == MO_OK && r->options->stay && r->n_receivers > 0) {
        /* The set of receivers with a reader of u in the start. */
        const mo_instance *x = r->x;
        int u = r->options->fork->segment.u, set = 0;

        for (int i = 0; i < r->n_receivers; i++)
            for (int q = x->out_start[u]; q < x->out_start[u + 1]; q++)
                if (r->start->device[x->flows[q].to] == r->receivers[i])
                    set |= 1 << i;
        return add_receiver_set(r, set, MORE_STARTS, err);
    }
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

static mo_status run_rungs(halving *r, mo_error *err)
{
    int64_t moves = r->options->anneal->moves;
    mo_status status = MO_OK;

    do {
        for (int i = 0; i < r->n && status == MO_OK; i++)
            status = anneal_start(r, i, moves, err);

        /* Insertion sort by priced makespan, stable. */
        double cost_ns[MAX_STARTS];

        for (int i = 0; i < r->n; i++) {
            mo_schedule *schedule = r->starts[i];
            double own_ns = priced_makespan_ns(r, schedule);
            int at = i;

            for (; at > 0 && cost_ns[at - 1] > own_ns; at--) {
                r->starts[at] = r->starts[at - 1];
                cost_ns[at] = cost_ns[at - 1];
            }
            r->starts[at] = schedule;
            cost_ns[at] = own_ns;
        }
        /* Drops all but the first n; those of a last rung move to
         * options->others, unless it is NULL. */
        int n = (r->n + REDUCTION - 1) / REDUCTION;
        mo_primal_halving_others *others =
            r->n <= MO_PRIMAL_MAX_OTHERS ? r->options->others : NULL;

        for (; r->n > n; r->n--) {
            mo_schedule *it = r->starts[r->n - 1];

            if (others && others->n < MO_PRIMAL_MAX_OTHERS)
                others->schedules[others->n++] = it;
            else
                mo_schedule_free(it);
        }
        moves *= REDUCTION;
        r->n_runs++;
    } while (r->n > 1 && status == MO_OK);
    return status == MO_OK ? anneal_last_start(r, err) : status;
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
    mo_status status;
    const mo_forkjoin *fork = r.options->fork;
    size_t n = (size_t) fork->segment.n + 1;
    size_t devices = (size_t) r.x->n_devices;

    r.hint.device = calloc(n, sizeof *r.hint.device);
    r.hint.start_ns = calloc(n, sizeof *r.hint.start_ns);
    r.receives = calloc(devices, sizeof *r.receives);
    r.receivers = calloc(devices, sizeof *r.receivers);
    if (!r.hint.device || !r.hint.start_ns || !r.receives || !r.receivers) {
        status = mo_fail_memory(err);
    } else {
        /* The devices that the shared tensor may go to, if there is one and
         * they are few. */
        if (fork->broadcast_row >= 0 && fork->segment.u != MO_FREE &&
            r.x->n_devices - 1 <= MAX_RECEIVERS)
            for (int k = 0; k < r.x->n_devices; k++)
                if (k != r.options->boundary / r.x->n_devices)
                    r.receivers[r.n_receivers++] = k;
        status = mo_primal_warm_start_new(r.x, r.regime, &r.warm, err);
    }

    if (status == MO_OK && !mo_ablated(MO_ABLATION_successive_halving))
        status = add_starts(&r, err);
    if (status == MO_OK && r.n == 0) {
        /* The given start takes part only if it is the only one: annealed for
         * long already, it would beat all others in the first rungs. */
        status = mo_schedule_copy(r.x, r.start, &r.starts[r.n], err);
        r.n += status == MO_OK;
    }
    if (status == MO_OK)
        status = run_rungs(&r, err);
    if (status == MO_OK &&
        priced_makespan_ns(&r, r.starts[0]) >= priced_makespan_ns(&r, start)) {
        status = mo_schedule_copy(x, start, best, err);
    } else if (status == MO_OK) {
        *best = r.starts[0];
        r.starts[0] = NULL;
    }
    for (int i = 0; i < r.n; i++)
        mo_schedule_free(r.starts[i]);
    mo_primal_warm_start_free(r.warm);
    free(r.hint.device);
    free(r.hint.start_ns);
    free(r.receives);
    free(r.receivers);
    return status;
}

/* Target times range from the bound to 1/12 above it. */
enum { TARGET_PART = 12 };

/* Budget relative to that of the load bound; with less, rounding finds no
 * schedule. */
#define BUDGET_FACTOR 1.02

static int device_in(const mo_schedule *s, int op)
{
    return op == MO_FREE ? MO_FREE : s->device[op];
}

mo_status mo_primal_priced_halving(const mo_instance *x,
                                   const mo_regime *regime,
                                   const mo_schedule *start,
                                   const mo_primal_halving_options *options,
                                   mo_schedule **best, mo_error *err)
{
    mo_primal_halving_options priced = *options;
    mo_primal_anneal_result annealed = { 0 };
    int a = device_in(start, options->fork->segment.u),
        b = device_in(start, options->fork->segment.v);
    mo_status status;

    if (mo_ablated(MO_ABLATION_priced_halving)) {
        status =
            mo_primal_anneal(x, regime, start, options->anneal, &annealed, err);
        *best = annealed.schedule;
        return status;
    }
    priced.boundary = mo_max_int(a, 0) * x->n_devices + mo_max_int(b, 0);

    /* Sets the target times and the budget by the bound at the devices of the
     * start. */
    const mo_forkjoin_case at = { priced.fork,
                                  device_in(start, priced.fork->segment.u),
                                  device_in(start, priced.fork->segment.v) };
    const mo_allowed_devices *places = priced.fork->places;
    const double *price_ns = priced.anneal->price_ns;
    size_t n_devices = (size_t) places->x->n_devices;
    int64_t *op_price =
        calloc((size_t) places->x->n + 1, n_devices * sizeof *op_price);
    double *used_bytes = calloc(n_devices + 1, sizeof *used_bytes);
    int64_t bound_ns = 0;
    status = op_price && used_bytes ? MO_OK : mo_fail_memory(err);

    for (int i = 0; status == MO_OK && i < places->x->n; i++)
        for (int k = 0; k < places->x->n_devices; k++)
            op_price[mo_allowed_devices_index(places, i, k)] =
                (int64_t) (price_ns[k] *
                           (double) mo_allowed_devices_resident_bytes(places,
                                                                      i));
    if (status == MO_OK)
        status =
            mo_load_bound_priced(&at, op_price, 0, &bound_ns, used_bytes, err);
    for (size_t k = 0; k < n_devices && status == MO_OK; k++)
        priced.budget_ns += price_ns[k] * used_bytes[k];
    priced.from_ns = mo_max_i64(bound_ns - (int64_t) priced.budget_ns, 1);
    priced.to_ns = priced.from_ns + priced.from_ns / TARGET_PART;
    priced.budget_ns *= BUDGET_FACTOR;
    free(op_price);
    free(used_bytes);
    return status == MO_OK ? mo_primal_successive_halving(x, regime, start,
                                                          &priced, best, err)
                           : status;
}
