/* SPDX-License-Identifier: Apache-2.0 */
#include "solvers/search/primal/successive_halving.h"

#include <stdbool.h>
#include <stdlib.h>

#include "base/random.h"
#include "solvers/search/bound/colgen/branch_and_price.h"
#include "solvers/search/primal/warm_start.h"

enum {
    TIMES = 4,          /* asked for, of each set of devices, ... */
    MORE_TIMES = 32,    /* ... or of only one */
    MOST_RECEIVERS = 4, /* all sets of so many are looked at */
    MOST = (TIMES << MOST_RECEIVERS) + 1,
    GO_ON = 4, /* one in so many, for so many times as long */
    ALONE = 12 /* times as long as in the first heat, a walk of the winner */
};

typedef struct race {
    const mo_instance *x;
    const mo_regime *regime;
    const mo_primal_halving_options *options;
    const mo_schedule *start;
    mo_primal_warm_start *like;
    mo_decomp_solution_hint hint;
    bool *receives; /* by device */
    int *receivers; /* devices that may or may not */
    int n_receivers;
    mo_schedule *runners[MOST]; /* the best first, between heats */
    int n;
    int n_heats;
} race;

static int end_of(int op, int device)
{
    return op == MO_FREE ? MO_FREE : device;
}

/* Devices that the shared tensor may come to, if there is one and they are not
 * too many. */
static void find_receivers(race *r)
{
    const mo_forkjoin *fork = r->options->fork;
    int n = r->x->n_devices, a = r->options->boundary / n;

    if (fork->shared_row < 0 || fork->segment.u == MO_FREE ||
        n - 1 > MOST_RECEIVERS)
        return;
    for (int k = 0; k < n; k++)
        if (k != a)
            r->receivers[r->n_receivers++] = k;
}

static mo_status open_race(race *r, mo_error *err)
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
    return mo_primal_warm_start_new(r->x, r->regime, &r->like, err);
}

static void close_race(race *r)
{
    for (int i = 0; i < r->n; i++)
        mo_schedule_free(r->runners[i]);
    mo_primal_warm_start_free(r->like);
    free(r->hint.device);
    free(r->hint.start_ns);
    free(r->receives);
    free(r->receivers);
}

/* What prices suggest for a time; nothing, where they tell that it is too
 * short. */
static mo_status enter_hint(race *r, int64_t time_ns, double point,
                            mo_error *err)
{
    const mo_forkjoin *fork = r->options->fork;
    int boundary = r->options->boundary, n = r->x->n_devices;
    mo_schedule *made = NULL;
    bool suggested = false;
    mo_status status = mo_cg_rounding_heuristic(
        fork, r->regime, end_of(fork->segment.u, boundary / n),
        end_of(fork->segment.v, boundary % n), time_ns,
        r->n_receivers > 0 ? r->receives : NULL, point,
        r->options->anneal->stop, &r->hint, &suggested, err);

    if (status == MO_OK && suggested)
        status = mo_primal_warm_start_from_hint(
            r->like, r->start, &fork->segment, boundary, &r->hint, &made, err);
    if (made)
        r->runners[r->n++] = made;
    return status;
}

/* What the caller's hint makes of the start. */
static mo_status enter_known(race *r, mo_error *err)
{
    const mo_primal_halving_options *o = r->options;
    mo_schedule *made = NULL;
    mo_status status = MO_OK;

    if (o->hint)
        status =
            mo_primal_warm_start_from_hint(r->like, r->start, &o->fork->segment,
                                           o->boundary, o->hint, &made, err);
    if (made)
        r->runners[r->n++] = made;
    return status;
}

/* The start runs only where nobody else does: it has been made better for long
 * already, and would be ahead of all others until they have had their time. */
static mo_status enter_start(race *r, mo_error *err)
{
    mo_status status = mo_schedule_copy(r->x, r->start, &r->runners[r->n], err);

    r->n += status == MO_OK;
    return status;
}

/* At times, and divided by points, that differ from race to race. */
static mo_status enter_set(race *r, int set, int times, mo_error *err)
{
    const mo_primal_halving_options *o = r->options;
    int64_t step_ns = (o->to_ns - o->from_ns) / times;
    mo_random random = { o->anneal->seed };
    int64_t first_ns =
        o->from_ns + (int64_t) (mo_random_unit(&random) * (double) step_ns);
    mo_status status = MO_OK;

    for (int i = 0; i < r->n_receivers; i++)
        r->receives[r->receivers[i]] = set >> i & 1;
    for (int t = 0;
         t < times && status == MO_OK && !mo_stop_reached(o->anneal->stop); t++)
        status =
            enter_hint(r, first_ns + step_ns * t, mo_random_unit(&random), err);
    return status;
}

/* Devices on which somebody reads u as the start has it. */
static int set_of_start(const race *r)
{
    const mo_instance *x = r->x;
    int u = r->options->fork->segment.u, set = 0;

    for (int i = 0; i < r->n_receivers; i++)
        for (int q = x->out_start[u]; q < x->out_start[u + 1]; q++)
            if (r->start->device[x->flows[q].to] == r->receivers[i])
                set |= 1 << i;
    return set;
}

static mo_status enter_all(race *r, mo_error *err)
{
    mo_status status = enter_known(r, err);

    if (status == MO_OK && r->options->stay && r->n_receivers > 0)
        return enter_set(r, set_of_start(r), MORE_TIMES, err);
    for (int set = 0; set < 1 << r->n_receivers && status == MO_OK; set++)
        status = enter_set(r, set, TIMES, err);
    return status;
}

/* Moves of the others go on where one is stopped: what it has is the best so
 * far. */
static mo_status anneal_one(race *r, int i, int64_t moves, mo_error *err)
{
    mo_primal_anneal_options options = *r->options->anneal;
    mo_primal_anneal_result annealed = { 0 };
    mo_status status;

    options.moves = moves;
    options.seed =
        mo_random_seed(options.seed, (uint64_t) (r->n_heats * MOST + i));
    status = mo_primal_anneal(r->x, r->regime, r->runners[i], &options,
                              &annealed, err);
    if (status != MO_OK)
        return status;
    mo_schedule_free(r->runners[i]);
    r->runners[i] = annealed.schedule;
    return MO_OK;
}

/* By insertion: of equals, who came first stays first. */
static void rank_runners(race *r)
{
    for (int i = 1; i < r->n; i++) {
        mo_schedule *it = r->runners[i];
        int at = i;

        for (; at > 0 && r->runners[at - 1]->makespan_ns > it->makespan_ns;
             at--)
            r->runners[at] = r->runners[at - 1];
        r->runners[at] = it;
    }
}

static void send_home(race *r, int n)
{
    while (r->n > n)
        mo_schedule_free(r->runners[--r->n]);
}

/* When time is up, walks take none, and are in vain. */
static mo_status go_on_alone(race *r, mo_error *err)
{
    int64_t moves = ALONE * r->options->anneal->moves;
    mo_status status = MO_OK;

    for (int vain = 0; vain < r->options->patience && status == MO_OK; vain++) {
        int64_t before_ns = r->runners[0]->makespan_ns;

        status = anneal_one(r, 0, moves, err);
        r->n_heats++;
        if (status == MO_OK && r->runners[0]->makespan_ns < before_ns)
            vain = -1;
    }
    return status;
}

static mo_status run_heats(race *r, mo_error *err)
{
    int64_t moves = r->options->anneal->moves;
    mo_status status = MO_OK;

    do {
        for (int i = 0; i < r->n && status == MO_OK; i++)
            status = anneal_one(r, i, moves, err);
        rank_runners(r);
        send_home(r, (r->n + GO_ON - 1) / GO_ON);
        moves *= GO_ON;
        r->n_heats++;
    } while (r->n > 1 && status == MO_OK);
    return status == MO_OK ? go_on_alone(r, err) : status;
}

/* The winner, or the start, if that is shorter still. */
static mo_status take_best(race *r, mo_schedule **best, mo_error *err)
{
    if (r->runners[0]->makespan_ns >= r->start->makespan_ns)
        return mo_schedule_copy(r->x, r->start, best, err);
    *best = r->runners[0];
    r->runners[0] = NULL;
    return MO_OK;
}

mo_status mo_primal_successive_halving(const mo_instance *x,
                                       const mo_regime *regime,
                                       const mo_schedule *start,
                                       const mo_primal_halving_options *options,
                                       mo_schedule **best, mo_error *err)
{
    race r = { .x = x, .regime = regime, .options = options, .start = start };
    mo_status status = open_race(&r, err);

    if (status == MO_OK)
        status = enter_all(&r, err);
    if (status == MO_OK && r.n == 0)
        status = enter_start(&r, err);
    if (status == MO_OK)
        status = run_heats(&r, err);
    if (status == MO_OK)
        status = take_best(&r, best, err);
    close_race(&r);
    return status;
}
