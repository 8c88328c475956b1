/* SPDX-License-Identifier: Apache-2.0 */
#include "solvers/search/driver/primal_job.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/random.h"
#include "schedule/heuristic/heft.h"
#include "solvers/search/decomp/boundary_path.h"
#include "solvers/search/exact/exact.h"
#include "solvers/search/primal/anneal.h"
#include "solvers/search/primal/enumerate.h"
#include "solvers/search/primal/milp_subproblem.h"
#include "solvers/search/primal/spine.h"
#include "solvers/search/primal/successive_halving.h"
#include "solvers/search/primal/warm_start.h"

enum {
    SPINE_PASSES = 3,
    POLISH_MOVES = 80, /* of the whole, per move of an op in its block: about
                    equal time for any size */

    /* Estimates of work (mo_stop_spend): */
    LIST_OP_WORK = 600,  /* of an op in a list schedule */
    NODE_WORK = 20000,   /* of a node of exact search, and ... */
    NODE_OP_WORK = 1000, /* ... for each op */
    HALVING_STARTS =
        100, /* whole runs that successive halving takes as long as */
    SPINE_BLOCK_OPS = 20 /* of a block along a spine */
};

/* Temperatures as parts of the makespan: differences of a few hundred
 * nanoseconds in a run of milliseconds. */
#define POLISH_HOT  1e-5
#define POLISH_COLD 1e-6

/* Factors of changed prices. */
#define LEAST_CHANGE 0.7
#define CHANGE       0.6

typedef struct job_run {
    const mo_decomp_classes *classes;
    const mo_decomp_class *cls;
    mo_search_primal_job *it;
    mo_instance x; /* pinned to the boundary; only x.pin is owned */
    const mo_stop *stop;
} job_run;

/* Keeps the shorter schedule, or, where variants are kept, every list
 * schedule. */
static mo_status keep_schedule(const job_run *t, mo_schedule **best,
                               mo_schedule *s, mo_error *err)
{
    mo_search_primal_job *it = t->it;
    mo_status status = MO_OK;

    if (!t->classes->keep_variants || it->how != MO_SEARCH_PRIMAL_LIST) {
        mo_schedule_keep_better(best, s);
        return MO_OK;
    }
    status = MO_ARRAY_GROW(it->more, it->n_more, it->more_room, err);
    if (status == MO_OK)
        it->more[it->n_more++] = s;
    else
        mo_schedule_free(s);
    return status;
}

static mo_status run_heft(const job_run *t, const int *placement,
                          mo_schedule **best, mo_error *err)
{
    mo_schedule *s = NULL;
    mo_status status = mo_heft(&t->x, &t->classes->regime, placement, &s, err);

    if (status == MO_OK && s)
        status = mo_schedule_left_shift(&t->x, s, err);
    if (status == MO_OK && s)
        return keep_schedule(t, best, s, err);
    mo_schedule_free(s);
    return status;
}

/* Schedules all unpinned ops on one device, for each device of a state. */
static mo_status schedule_on_each_device(const job_run *t, mo_schedule **best,
                                         mo_error *err)
{
    const mo_decomp_states *states = t->classes->states;
    int *placement = malloc((size_t) t->x.n * sizeof *placement);
    mo_status status = placement ? MO_OK : mo_fail_memory(err);

    for (int a = 0; a < states->n && status == MO_OK; a++) {
        for (int i = 0; i < t->x.n; i++)
            placement[i] =
                t->x.pin[i] == MO_FREE ? states->device[a] : t->x.pin[i];
        status = run_heft(t, placement, best, err);
    }
    free(placement);
    return status;
}

static mo_status list_schedule(const job_run *t, mo_schedule **best,
                               mo_error *err)
{
    mo_status status = run_heft(t, NULL, best, err);

    return status == MO_OK ? schedule_on_each_device(t, best, err) : status;
}

static mo_status warm_start_from_others(const job_run *t, mo_schedule **best,
                                        mo_error *err)
{
    int n_boundaries = t->classes->states->n * t->classes->states->n;
    mo_primal_warm_start *warm = NULL;
    mo_status status =
        mo_primal_warm_start_new(&t->x, &t->classes->regime, &warm, err);

    for (int boundary = 0; boundary < n_boundaries && status == MO_OK;
         boundary++) {
        const mo_schedule *model = t->cls->boundaries[boundary].best;
        mo_schedule *s = NULL;

        if (!model || boundary == t->it->boundary)
            continue;
        status = mo_primal_warm_start_from_schedule(
            warm, model, *best ? (*best)->makespan_ns : INT64_MAX, &s, err);
        if (s)
            mo_schedule_keep_better(best, s);
    }
    mo_primal_warm_start_free(warm);
    return status;
}

/* Returns the shortest known start: warm starts from other boundaries
 * included. */
static mo_status find_start(const job_run *t, mo_schedule **best, mo_error *err)
{
    const mo_schedule *own = t->cls->boundaries[t->it->boundary].best;
    mo_status status = own && !t->it->anew
                           ? mo_schedule_copy(&t->x, own, best, err)
                           : list_schedule(t, best, err);

    return status == MO_OK && !t->it->anew
               ? warm_start_from_others(t, best, err)
               : status;
}

/* Replaces the start by its warm start with the hint; leaves it where that
 * does not fit memory. */
static mo_status start_by_hint(const job_run *t, mo_schedule **start_from,
                               mo_error *err)
{
    const mo_search_primal_job *it = t->it;
    mo_schedule *hinted = NULL;
    mo_primal_warm_start *warm = NULL;
    mo_status status =
        mo_primal_warm_start_new(&t->x, &t->classes->regime, &warm, err);

    if (status == MO_OK)
        status = mo_primal_warm_start_from_hint(warm, *start_from, it->segment,
                                                it->segment_boundary, it->hint,
                                                &hinted, err);
    if (hinted) {
        mo_schedule_free(*start_from);
        *start_from = hinted;
    }
    mo_primal_warm_start_free(warm);
    return status;
}

/* Options common to all annealing runs of the job. */
static mo_primal_anneal_options anneal_options(const job_run *t)
{
    const mo_search_primal_job *it = t->it;
    mo_primal_anneal_options options = { .seed = it->seed,
                                         .moves = it->effort,
                                         .enough_ns =
                                             t->cls->lower_ns[it->boundary],
                                         .stop = t->stop };

    if (it->fork && it->fork->n_classes > 0 && it->fork->classes[0].count > 1) {
        options.branch_ops = it->fork->classes[0].members;
        options.n_branches = it->fork->classes[0].count;
        options.branch_n = it->fork->classes[0].n;
    }
    return options;
}

/* Anneals from the best so far, at least once, until `patience` runs in a row
 * have not improved it. After the stop a run does no moves. */
static mo_status anneal_until_no_gain(const job_run *t, mo_schedule **from,
                                      mo_error *err)
{
    mo_primal_anneal_options options = anneal_options(t);
    mo_status status = MO_OK;
    int n_idle = 0;

    for (int i = 0; status == MO_OK && (i == 0 || n_idle < t->it->patience);
         i++) {
        int64_t before_ns = (*from)->makespan_ns;
        mo_primal_anneal_result annealed = { 0 };

        if (i > 0)
            options.seed = mo_random_seed(t->it->seed, (uint64_t) i);
        status = mo_primal_anneal(&t->x, &t->classes->regime, *from, &options,
                                  &annealed, err);
        if (status == MO_OK)
            mo_schedule_keep_better(from, annealed.schedule);
        n_idle = (*from)->makespan_ns < before_ns ? 0 : n_idle + 1;
    }
    return status;
}

static mo_status run_annealing(const job_run *t, mo_error *err)
{
    mo_search_primal_job *it = t->it;
    mo_status status = find_start(t, &it->schedule, err);

    if (status == MO_OK && it->schedule && it->hint)
        status = start_by_hint(t, &it->schedule, err);
    if (status == MO_OK && it->schedule)
        status = anneal_until_no_gain(t, &it->schedule, err);
    return status;
}

/* Every other job changes the prices a little: variants of about the same
 * priced time fill up what is left of the devices.  The prices of the classes
 * do not change while jobs run. */
static void choose_prices(const job_run *t, double *price_ns)
{
    mo_random random = { t->it->seed };
    bool changed = mo_random_below(&random, 2) == 1;

    for (int k = 0; k < t->x.n_devices; k++)
        price_ns[k] =
            t->classes->price_ns[k] *
            (changed ? LEAST_CHANGE + CHANGE * mo_random_unit(&random) : 1);
}

/* Replaces *from, which costs cost_ns with prices, by the start of the load
 * bound if that costs less. */
static mo_status try_load_start(const job_run *t, const double *price_ns,
                                double cost_ns, mo_schedule **from,
                                mo_error *err)
{
    mo_schedule *s = NULL;
    mo_status status = MO_OK;

    if (!t->it->start)
        return MO_OK;
    status = mo_primal_load_start_schedule(
        t->it->start, &t->x, &t->classes->regime, price_ns, cost_ns, &s, err);
    if (status == MO_OK && s) {
        mo_schedule_free(*from);
        *from = s;
    }
    return status;
}

/* Schedules that halving has dropped late are variants, too. */
static mo_status run_priced_halving(const job_run *t, const mo_schedule *from,
                                    const mo_primal_anneal_options *options,
                                    mo_error *err)
{
    mo_search_primal_job *it = t->it;
    mo_primal_halving_others others = { .n = 0 };
    const mo_primal_halving_options halving = {
        .fork = it->fork, .anneal = options, .stay = it->stay, .others = &others
    };
    mo_status status = mo_primal_priced_halving(
        &t->x, &t->classes->regime, from, &halving, &it->schedule, err);

    for (int i = 0; i < others.n; i++) {
        mo_status kept = MO_ARRAY_GROW(it->more, it->n_more, it->more_room,
                                       status == MO_OK ? err : NULL);

        if (kept == MO_OK)
            it->more[it->n_more++] = others.schedules[i];
        else
            mo_schedule_free(others.schedules[i]);
        status = status == MO_OK ? kept : status;
    }
    return status;
}

static mo_status run_priced(const job_run *t, mo_error *err)
{
    const mo_decomp_boundary *boundary = &t->cls->boundaries[t->it->boundary];
    const mo_decomp_states *states = t->classes->states;
    const mo_primal_enumerate_ends ends = {
        .a = states->device[t->it->boundary / states->n],
        .b = states->device[t->it->boundary % states->n],
        .stop = t->stop
    };
    double price_ns[MO_DECOMP_MAX_STATES], cost_ns = INFINITY;
    mo_primal_anneal_options options = anneal_options(t);
    mo_primal_anneal_result annealed = { 0 };
    mo_schedule *from = NULL;
    mo_status status;
    int variant;

    if (mo_search_primal_job_enumerates(t->classes, t->cls))
        return mo_primal_enumerate(&t->x, &t->classes->regime, &ends,
                                   &t->it->more, &t->it->n_more,
                                   &t->it->more_room, err);
    choose_prices(t, price_ns);
    variant = mo_decomp_class_cheapest_variant(
        t->classes, t->cls, t->it->boundary, price_ns, &cost_ns);
    status = variant < 0
                 ? list_schedule(t, &from, err)
                 : mo_schedule_copy(&t->x, boundary->variants[variant].schedule,
                                    &from, err);
    if (status == MO_OK)
        status = try_load_start(t, price_ns, cost_ns, &from, err);
    options.enough_ns = 0;
    options.price_ns = price_ns;
    if (status == MO_OK && from &&
        t->it->how == MO_SEARCH_PRIMAL_PRICED_HALVING)
        status = run_priced_halving(t, from, &options, err);
    else if (status == MO_OK && from)
        status = mo_primal_anneal(&t->x, &t->classes->regime, from, &options,
                                  &annealed, err);
    if (annealed.schedule)
        t->it->schedule = annealed.schedule;
    mo_schedule_free(from);
    return status;
}

static bool fits_capacity(const job_run *t, const int64_t *bytes)
{
    for (int k = 0; k < t->x.n_devices; k++)
        if (bytes[k] > t->it->capacity_bytes[k])
            return false;
    return true;
}

/* From the shortest variant within the capacities. */
static mo_status run_fill(const job_run *t, mo_error *err)
{
    const mo_decomp_variant *variants =
        t->cls->boundaries[t->it->boundary].variants;
    const mo_schedule *from = NULL;
    mo_primal_anneal_options options = anneal_options(t);
    mo_primal_anneal_result annealed = { 0 };
    mo_instance x = t->x;
    mo_status status = MO_OK;

    x.capacity_bytes = t->it->capacity_bytes;
    for (int i = 0; variants && i < t->classes->n_variants; i++) {
        const mo_schedule *s = variants[i].schedule;

        if (s && fits_capacity(t, variants[i].bytes) &&
            (!from || s->makespan_ns < from->makespan_ns))
            from = s;
    }
    if (from)
        status = mo_primal_anneal(&x, &t->classes->regime, from, &options,
                                  &annealed, err);
    t->it->schedule = annealed.schedule;
    return status;
}

static mo_status run_halving(const job_run *t, mo_error *err)
{
    mo_search_primal_job *it = t->it;
    mo_primal_anneal_options each = anneal_options(t);
    mo_primal_halving_options options = { .fork = it->fork,
                                          .boundary = it->segment_boundary,
                                          .from_ns = it->from_ns,
                                          .to_ns = it->to_ns,
                                          .hint = it->hint,
                                          .anneal = &each,
                                          .stay = it->stay,
                                          .patience = it->patience };
    mo_schedule *from = NULL;
    mo_status status = find_start(t, &from, err);

    if (status == MO_OK && from)
        status = mo_primal_successive_halving(&t->x, &t->classes->regime, from,
                                              &options, &it->schedule, err);
    mo_schedule_free(from);
    return status;
}

/* Several passes, so that blocks can copy what equal blocks have found. */
static mo_status improve_blocks(const job_run *t, mo_primal_spine *spine,
                                mo_error *err)
{
    mo_status status = MO_OK;

    for (int pass = 0; pass < SPINE_PASSES && status == MO_OK; pass++)
        status = mo_primal_spine_improve(spine, t->it->effort / SPINE_PASSES,
                                         t->stop, err);
    return status;
}

/* Repeats with the chain's ops on the devices that the whole schedule has
 * moved them to. */
static mo_status repeat_with_new_ends(const job_run *t, mo_primal_spine *spine,
                                      mo_error *err)
{
    mo_schedule *s = NULL;
    mo_status status = MO_OK;

    if (!t->it->schedule || mo_stop_reached(t->stop) ||
        !mo_primal_spine_adopt_ends(spine, t->it->schedule))
        return MO_OK;
    status = improve_blocks(t, spine, err);
    if (status == MO_OK)
        status = mo_primal_spine_assemble(spine, &s, err);
    if (s)
        mo_schedule_keep_better(&t->it->schedule, s);
    return status;
}

/* Local search on the whole at low temperature: blocks were annealed
 * separately. */
static mo_status polish_schedule(const job_run *t, int64_t moves, mo_error *err)
{
    mo_search_primal_job *it = t->it;
    mo_primal_anneal_options options = { .seed = it->seed,
                                         .moves = moves,
                                         .hot = POLISH_HOT,
                                         .cold = POLISH_COLD,
                                         .enough_ns =
                                             t->cls->lower_ns[it->boundary],
                                         .stop = t->stop };
    mo_primal_anneal_result annealed = { 0 };
    mo_status status = MO_OK;

    if (it->schedule)
        status = mo_primal_anneal(&t->x, &t->classes->regime, it->schedule,
                                  &options, &annealed, err);
    if (annealed.schedule)
        mo_schedule_keep_better(&it->schedule, annealed.schedule);
    return status;
}

static mo_status run_spine(const job_run *t, mo_error *err)
{
    mo_search_primal_job *it = t->it;
    mo_primal_spine_options options = { .seed = it->seed,
                                        .threads = 1,
                                        .stop = t->stop };
    mo_primal_spine *spine = NULL;
    mo_status status =
        mo_primal_spine_new(&t->x, &t->classes->regime, &options, &spine, err);

    if (status == MO_OK)
        status = improve_blocks(t, spine, err);
    if (status == MO_OK)
        status = mo_primal_spine_assemble(spine, &it->schedule, err);
    if (status == MO_OK)
        status = repeat_with_new_ends(t, spine, err);
    mo_primal_spine_free(spine);
    return status == MO_OK ? polish_schedule(t, it->effort * POLISH_MOVES, err)
                           : status;
}

/* Polishes the best known schedule only. */
static mo_status run_polish(const job_run *t, mo_error *err)
{
    mo_status status = find_start(t, &t->it->schedule, err);

    return status == MO_OK ? polish_schedule(t, t->it->effort, err) : status;
}

static mo_status run_exact(const job_run *t, mo_error *err)
{
    mo_search_primal_job *it = t->it;
    mo_exact_options options = { .below_ns = t->cls->upper_ns[it->boundary],
                                 .nodes = it->effort,
                                 .stop = t->stop };
    mo_exact_result result = { 0 };
    mo_status status =
        mo_exact_solve(&t->x, &t->classes->regime, &options, &result, err);

    if (status != MO_OK)
        return status;
    it->schedule = result.best;
    it->lower_ns = result.lower_ns;
    if (result.finished)
        it->lower_ns =
            result.best ? result.best->makespan_ns : options.below_ns;
    it->reason = (mo_proof_reason){ .known = true,
                                    .kind = MO_PROOF_SPAN,
                                    .params = { result.nodes } };
    return MO_OK;
}

static mo_status run_milp(const job_run *t, mo_error *err)
{
    mo_search_primal_job *it = t->it;
    mo_primal_milp_options options = {
        .solver = it->solver,
        .found = it->found,
        .start = t->cls->boundaries[it->boundary].best,
        .seconds = it->seconds,
        .stop = t->stop
    };
    mo_primal_milp_result solved = { 0 };
    mo_status status = mo_primal_milp_solve(&t->x, &t->classes->regime,
                                            &options, &solved, err);

    if (status != MO_OK)
        return status;
    it->lower_ns = solved.lower_ns;
    it->schedule = solved.schedule;
    return MO_OK;
}

static mo_status run_algo(const job_run *t, mo_error *err)
{
    switch (t->it->how) {
    case MO_SEARCH_PRIMAL_LIST:
        return list_schedule(t, &t->it->schedule, err);
    case MO_SEARCH_PRIMAL_ANNEAL:
        return run_annealing(t, err);
    case MO_SEARCH_PRIMAL_PRICED:
    case MO_SEARCH_PRIMAL_PRICED_HALVING:
        return run_priced(t, err);
    case MO_SEARCH_PRIMAL_FILL:
        return run_fill(t, err);
    case MO_SEARCH_PRIMAL_HALVING:
        return run_halving(t, err);
    case MO_SEARCH_PRIMAL_SPINE:
        return run_spine(t, err);
    case MO_SEARCH_PRIMAL_POLISH:
        return run_polish(t, err);
    case MO_SEARCH_PRIMAL_EXACT:
        return run_exact(t, err);
    case MO_SEARCH_PRIMAL_MILP:
        return run_milp(t, err);
    }
    return MO_OK;
}

bool mo_search_primal_job_enumerates(const mo_decomp_classes *classes,
                                     const mo_decomp_class *cls)
{
    return classes->keep_variants &&
           mo_primal_enumerate_pays(cls->part->x, cls->u, cls->v);
}

/* Work of annealing: moves of the whole sub-instance. */
static int64_t anneal_work(const mo_decomp_class *cls, int64_t moves)
{
    return moves * mo_primal_anneal_move_work(cls->n);
}

int64_t mo_search_primal_job_work(const mo_decomp_classes *classes,
                                  const mo_search_primal_job *it)
{
    const mo_decomp_class *cls = &classes->classes[it->cls];

    if (it->how == MO_SEARCH_PRIMAL_LIST ||
        mo_search_primal_job_enumerates(classes, cls))
        return LIST_OP_WORK * cls->n * (classes->states->n + 1);
    switch (it->how) {
    case MO_SEARCH_PRIMAL_HALVING:
    case MO_SEARCH_PRIMAL_PRICED_HALVING:
        return HALVING_STARTS * anneal_work(cls, it->effort);
    case MO_SEARCH_PRIMAL_SPINE:
        return anneal_work(cls, (SPINE_BLOCK_OPS + POLISH_MOVES) * it->effort);
    case MO_SEARCH_PRIMAL_EXACT:
        return it->effort * (NODE_WORK + NODE_OP_WORK * cls->n);
    case MO_SEARCH_PRIMAL_MILP:
        return (int64_t) (1e9 * it->seconds);
    default:
        return anneal_work(cls, it->effort);
    }
}

mo_status mo_search_primal_job_run(const mo_decomp_classes *classes,
                                   mo_search_primal_job *it,
                                   const mo_stop *stop, mo_error *err)
{
    job_run t = { .classes = classes,
                  .cls = &classes->classes[it->cls],
                  .it = it,
                  .stop = stop };
    bool possible = false;
    mo_status status = MO_OK;

    it->stopped = mo_stop_reached(stop);
    if (it->stopped)
        return MO_OK;
    if (it->how == MO_SEARCH_PRIMAL_LIST || it->how == MO_SEARCH_PRIMAL_MILP)
        mo_stop_spend(stop, mo_search_primal_job_work(classes, it));
    status = mo_decomp_class_pin_boundary(classes, t.cls, it->boundary, &t.x,
                                          &possible, err);
    if (status == MO_OK && !possible)
        it->lower_ns = INT64_MAX;
    else if (status == MO_OK)
        status = run_algo(&t, err);
    free(t.x.pin);
    it->stopped = mo_stop_reached(stop);
    return status;
}

static mo_status merge_schedule(mo_search_state *s,
                                const mo_search_primal_job *it,
                                mo_schedule *schedule, mo_error *err)
{
    if (schedule && s->blocks)
        mo_chain_blocks_record_schedule(s->blocks, it->cls, schedule);
    return mo_decomp_class_update_upper(
        s->classes, &s->classes->classes[it->cls], it->boundary, schedule, err);
}

mo_status mo_search_primal_job_merge(mo_search_state *s,
                                     mo_search_primal_job *it, mo_error *err)
{
    mo_decomp_class *cls = &s->classes->classes[it->cls];
    mo_decomp_boundary *boundary = &cls->boundaries[it->boundary];
    mo_status status;

    if (it->how == MO_SEARCH_PRIMAL_EXACT &&
        (it->lower_ns > cls->lower_ns[it->boundary] || it->schedule))
        boundary->exact_pays = true;
    s->n_merged += it->schedule || it->n_more > 0;
    status = merge_schedule(s, it, it->schedule, err);
    if (it->lower_ns > boundary->own_ns) {
        boundary->own_ns = it->lower_ns;
        boundary->reason = it->reason;
    }
    for (size_t i = 0; i < it->n_more; i++) {
        mo_status merged =
            merge_schedule(s, it, it->more[i], status == MO_OK ? err : NULL);

        status = status == MO_OK ? merged : status;
    }
    it->schedule = NULL;
    it->n_more = 0;
    mo_search_primal_job_clear(it);
    return status;
}

mo_status mo_search_primal_jobs_merge(mo_search_state *s,
                                      mo_search_primal_job *items, size_t n,
                                      const char *what, mo_error *err)
{
    mo_status status = MO_OK;

    for (size_t i = 0; i < n; i++) {
        mo_status merged = mo_search_primal_job_merge(
            s, &items[i], status == MO_OK ? err : NULL);

        status = status == MO_OK ? merged : status;
    }
    return status == MO_OK ? mo_search_update_bounds(s, what, err) : status;
}

void mo_search_primal_job_clear(mo_search_primal_job *it)
{
    mo_schedule_free(it->schedule);
    for (size_t i = 0; i < it->n_more; i++)
        mo_schedule_free(it->more[i]);
    free(it->more);
    free(it->capacity_bytes);
    it->schedule = NULL;
    it->more = NULL;
    it->n_more = it->more_room = 0;
    it->capacity_bytes = NULL;
}
