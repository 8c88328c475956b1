/* SPDX-License-Identifier: Apache-2.0 */
#include "solvers/search/driver/round_plan.h"

#include <stdlib.h>

#include "base/minmax.h"
#include "base/random.h"
#include "solvers/search/driver/candidate_select.h"
#include "solvers/search/driver/memory_repair.h"
#include "solvers/search/driver/priced_plan.h"

enum {
    SPINE_MIN_OPS = 300,  /* more are scheduled along a spine at some levels */
    POLISH_WORK = 200000, /* ops of the whole, per move in a block */
    MILP_MAX_OPS = 60,    /* at most so many in a MILP */
    MILP_LEVEL = 7,
    MAX_LONG = 16,      /* long jobs in a round */
    FIRST_MAX_LONG = 4, /* the same in the first, for an early incumbent, and
                           where memory binds */
    MAX_COPIES = 4,     /* of a job, with different seeds */
    SHORT_EXACT_MAX_OPS =
        1000, /* at most so many get a short exact search at level 1 */
    LARGE_EXACT_NODES =
        500, /* doubles by level; for more than MO_SEARCH_EXACT_MAX_OPS */
    EXACT_NODES = 2000, /* the same for few ops */
    INITIAL_WORK =
        4000000, /* ops x boundaries x devices, for initial schedules */
    MIN_MOVES = 2000,
    HALVING_WORK = 250000, /* ops x moves of each start of successive halving at
                           level 2; doubles ... */
    HALVING_LEVELS = 3, /* ... up to this level, as do the moves of annealing */
    HALVING_PATIENCE = 4,      /* of the last start, after the rungs */
    ANNEAL_PATIENCE = 2,       /* of annealing in between */
    HALVING_TARGET_PART = 12,  /* width of the target times, as a part of the
                        block's lower  bound */
    MIN_MOVES_MAX_OPS = 20000, /* up to so many get MIN_MOVES in any case */
    MIN_SHARE = 10 /* a tenth of the largest gain is still worth a job */
};

struct mo_search_round_plan {
    mo_search_state *search;
    mo_search_candidates *candidates;
    mo_forkjoin **forks; /* by class: of its largest block; or NULL */
    int next_class;      /* next to get an initial schedule */
    int next_boundary;   /* of that class */
    bool only_equal;     /* only boundaries with equal devices */
    const mo_search_candidate **chosen; /* in this round */
};

/* Returns the segment with the most ops, owned by the chain. */
static const mo_bound_segment *largest_segment(const mo_bound_chain *chain)
{
    const mo_bound_segment *largest = &chain->segments[0];

    for (int s = 1; s < chain->n; s++)
        if (chain->segments[s].n > largest->n)
            largest = &chain->segments[s];
    return largest;
}

/* Finds the equal branches of the largest block of each class; NULL: none. */
static mo_status find_forks(mo_search_round_plan *m, mo_error *err)
{
    const mo_chain_blocks *blocks = m->search->blocks;
    mo_status status = MO_OK;

    for (int i = 0; blocks && i < m->search->classes->n && status == MO_OK;
         i++) {
        const mo_chain_partition *c = &blocks->partitions[i];

        if (c->chain &&
            m->search->classes->classes[i].n > MO_SEARCH_EXACT_MAX_OPS)
            status = mo_forkjoin_find(&c->places, largest_segment(c->chain),
                                      &m->forks[i], err);
    }
    return status;
}

/* Returns the number of feasible boundaries of the class. */
static int count_boundaries(const mo_decomp_classes *classes,
                            const mo_decomp_class *cls)
{
    int n = 0;

    for (int p = 0; p < classes->states->n * classes->states->n; p++)
        n += cls->lower_ns[p] != INT64_MAX;
    return n;
}

/* Returns the work of initial schedules at all feasible boundaries. */
static int64_t initial_work(const mo_search_round_plan *m)
{
    const mo_decomp_classes *classes = m->search->classes;
    int64_t work = 0;

    for (int i = 0; i < classes->n; i++)
        if (classes->classes[i].part)
            work += (int64_t) count_boundaries(classes, &classes->classes[i]) *
                    classes->classes[i].n *
                    (classes->states->n + classes->x->n_devices);
    return work;
}

mo_status mo_search_round_plan_new(mo_search_state *search,
                                   mo_search_round_plan **plan, mo_error *err)
{
    mo_search_round_plan *m = calloc(1, sizeof *m);
    mo_status status;

    if (!m)
        return mo_fail_memory(err);
    m->search = search;
    m->forks = calloc((size_t) search->classes->n, sizeof *m->forks);
    m->chosen = calloc(MO_SEARCH_MAX_PRIMAL_JOBS, sizeof *m->chosen);
    status = m->forks && m->chosen
                 ? mo_search_candidates_new(search, &m->candidates, err)
                 : mo_fail_memory(err);
    if (status == MO_OK)
        status = find_forks(m, err);
    if (status == MO_OK) {
        m->only_equal = initial_work(m) > INITIAL_WORK;
        *plan = m;
    } else {
        mo_search_round_plan_free(m);
    }
    return status;
}

void mo_search_round_plan_free(mo_search_round_plan *m)
{
    if (!m)
        return;
    for (int i = 0; i < m->search->classes->n && m->forks; i++)
        mo_forkjoin_free(m->forks[i]);
    mo_search_candidates_free(m->candidates);
    free(m->forks);
    free(m->chosen);
    free(m);
}

/* Whether the boundary gets an initial schedule. */
static bool needs_initial_schedule(const mo_search_round_plan *m,
                                   const mo_decomp_class *cls, int boundary)
{
    int n = m->search->states.n;

    return cls->part && cls->lower_ns[boundary] != INT64_MAX &&
           (!m->only_equal || boundary / n == boundary % n);
}

int mo_search_round_plan_initial_jobs(mo_search_round_plan *m,
                                      mo_search_primal_job *jobs)
{
    const mo_decomp_classes *classes = m->search->classes;
    int n_boundaries = classes->states->n * classes->states->n, n = 0;

    for (; m->next_class < classes->n; m->next_class++, m->next_boundary = 0)
        for (; m->next_boundary < n_boundaries; m->next_boundary++) {
            if (n == MO_SEARCH_MAX_PRIMAL_JOBS)
                return n;
            if (needs_initial_schedule(m, &classes->classes[m->next_class],
                                       m->next_boundary))
                jobs[n++] =
                    (mo_search_primal_job){ .cls = m->next_class,
                                            .boundary = m->next_boundary,
                                            .how = MO_SEARCH_PRIMAL_LIST };
        }
    return n;
}

/* Few moves at level 1, to see which boundaries matter; then one long run is
 * better than several short ones. */
static int64_t anneal_moves(const mo_decomp_class *cls, int level)
{
    static const int64_t work[] = { 1000000,  5000000,   20000000,
                                    60000000, 120000000, 200000000 };
    int n = sizeof work / sizeof *work;
    int64_t moves = work[level <= n ? level - 1 : n - 1] / cls->n;

    if (moves < MIN_MOVES && cls->n <= MIN_MOVES_MAX_OPS)
        return MIN_MOVES;
    return moves + 1;
}

/* Returns whether the largest block has many equal branches. */
static bool has_equal_branches(const mo_search_round_plan *m, int cls)
{
    return m->forks[cls] && mo_forkjoin_has_many_equal_branches(m->forks[cls]);
}

/* Where branches differ, exact search succeeds at once or not at all, even
 * with many ops: a short run shows it. */
static bool is_exact_next(const mo_search_round_plan *m,
                          const mo_search_candidate *chosen, int level)
{
    const mo_decomp_class *cls = &m->search->classes->classes[chosen->cls];

    if (cls->n <= MO_SEARCH_EXACT_MAX_OPS)
        return true;
    if (level == 1)
        return cls->n <= SHORT_EXACT_MAX_OPS && m->forks[chosen->cls] &&
               !has_equal_branches(m, chosen->cls);
    return level % 2 == 0 && (cls->n <= MO_SEARCH_EXACT_RARE_MAX_OPS ||
                              cls->boundaries[chosen->boundary].exact_pays);
}

/* If most of the class is one block there is no chain to decompose along. */
static bool has_spine(const mo_search_round_plan *m, int number)
{
    const mo_decomp_class *cls = &m->search->classes->classes[number];
    const mo_bound_chain *chain =
        m->search->blocks ? m->search->blocks->partitions[number].chain : NULL;

    return chain && cls->n > SPINE_MIN_OPS &&
           largest_segment(chain)->n < cls->n / 2;
}

/* A MILP solver is used where exact search has failed repeatedly: its results
 * depend on the clock. */
static bool is_milp_next(const mo_search_round_plan *m,
                         const mo_decomp_class *cls, int level)
{
    const mo_method_task *task = m->search->task;

    return task->assist && task->found && cls->n <= MILP_MAX_OPS &&
           level >= MILP_LEVEL && level % 2 == 0;
}

/* Sets the hint that a failed bound job left for the largest block on the
 * shortest path by lower bounds, if there is one. */
static mo_status find_hint(mo_search_round_plan *m, mo_search_primal_job *it,
                           mo_error *err)
{
    const mo_chain_blocks *blocks = m->search->blocks;
    const mo_chain_partition *c = &blocks->partitions[it->cls];
    int *boundaries = calloc((size_t) c->chain->n, sizeof *boundaries),
        most = -1;
    mo_status status =
        boundaries ? mo_chain_blocks_shortest_path(
                         blocks, it->cls, it->boundary, NULL, boundaries, err)
                   : mo_fail_memory(err);

    for (int s = 0; s < c->chain->n && status == MO_OK; s++) {
        const mo_bound_segment *segment = &c->chain->segments[s];
        const mo_decomp_solution_hint *hint =
            &blocks->blocks[c->block[s]].hints[boundaries[s]];

        if (!hint->device || segment->n <= most)
            continue;
        most = segment->n;
        it->hint = hint;
        it->segment = segment;
        it->segment_boundary = boundaries[s];
    }
    free(boundaries);
    return status;
}

/* Sets the largest block on the shortest path by lower bounds and the range of
 * target times for it. */
static mo_status find_target_range(mo_search_round_plan *m,
                                   mo_search_primal_job *it, mo_error *err)
{
    const mo_chain_blocks *blocks = m->search->blocks;
    const mo_chain_partition *c = &blocks->partitions[it->cls];
    int *boundaries = calloc((size_t) c->chain->n, sizeof *boundaries), s = 0;
    mo_status status =
        boundaries ? mo_chain_blocks_shortest_path(
                         blocks, it->cls, it->boundary, NULL, boundaries, err)
                   : mo_fail_memory(err);

    if (status == MO_OK) {
        const mo_chain_block *b;

        while (&c->chain->segments[s] != largest_segment(c->chain))
            s++;
        b = &blocks->blocks[c->block[s]];
        it->segment = &c->chain->segments[s];
        it->segment_boundary = boundaries[s];
        it->hint =
            b->hints[boundaries[s]].device ? &b->hints[boundaries[s]] : NULL;
        it->from_ns = b->lower_ns[boundaries[s]];
        if (it->from_ns == INT64_MAX)
            it->from_ns = 0;
        it->to_ns = it->from_ns + it->from_ns / HALVING_TARGET_PART;
        if (it->to_ns > b->upper_ns[boundaries[s]])
            it->to_ns = b->upper_ns[boundaries[s]];
    }
    free(boundaries);
    return status;
}

/* Many equal branches: repeated successive halving, since its result depends
 * more on the random starts than on their length, with annealing of the best
 * in between. */
static bool is_halving_next(const mo_search_round_plan *m, int number, int copy,
                            int level)
{
    if (!has_equal_branches(m, number) || level == 1)
        return false;
    if (level <= HALVING_LEVELS)
        return level % 2 == 0 || copy > 0;
    return copy > 1 || (level + copy) % 2 == 0;
}

static int patience_for(const mo_search_round_plan *m, int number,
                        mo_search_primal_algo how, int level)
{
    if (!has_equal_branches(m, number) || level <= HALVING_LEVELS)
        return 0;
    return how == MO_SEARCH_PRIMAL_HALVING ? HALVING_PATIENCE : ANNEAL_PATIENCE;
}

/* Only the first copy of a job is an exact search or a MILP. Along a spine:
 * from scratch at odd levels, polishing at even ones. */
static mo_search_primal_algo choose_algo(const mo_search_round_plan *m,
                                         const mo_search_candidate *chosen,
                                         int copy, int level)
{
    const mo_decomp_class *cls = &m->search->classes->classes[chosen->cls];

    if (copy == 0 && is_milp_next(m, cls, level))
        return MO_SEARCH_PRIMAL_MILP;
    if (is_halving_next(m, chosen->cls, copy, level))
        return MO_SEARCH_PRIMAL_HALVING;
    if (copy == 0 && (chosen->exact || is_exact_next(m, chosen, level)))
        return MO_SEARCH_PRIMAL_EXACT;
    if (has_spine(m, chosen->cls))
        return level % 2 == 1 ? MO_SEARCH_PRIMAL_SPINE
                              : MO_SEARCH_PRIMAL_POLISH;
    return MO_SEARCH_PRIMAL_ANNEAL;
}

/* Late runs are short; their last start goes on alone. */
static int64_t halving_moves(const mo_decomp_class *cls, int level)
{
    int doublings = level > HALVING_LEVELS ? 0 : level - 2;

    return ((int64_t) HALVING_WORK << doublings) / cls->n + 1;
}

/* Moves for each op of a block, or, divided by ops, of the whole. */
static int64_t spine_effort(const mo_decomp_class *cls,
                            mo_search_primal_algo how, int level)
{
    static const int moves[] = { 200, 600, 2000, 4000, 8000 };
    int n = sizeof moves / sizeof *moves;
    int64_t each = moves[mo_min_int(level, n) - 1];

    return how == MO_SEARCH_PRIMAL_SPINE ? each
                                         : POLISH_WORK * each / cls->n + 1;
}

static int64_t effort_for(const mo_search_round_plan *m,
                          const mo_search_candidate *chosen,
                          mo_search_primal_algo how, int level)
{
    const mo_decomp_class *cls = &m->search->classes->classes[chosen->cls];
    bool is_short =
        has_equal_branches(m, chosen->cls) && level > HALVING_LEVELS;

    switch (how) {
    case MO_SEARCH_PRIMAL_HALVING:
        return halving_moves(cls, level);
    case MO_SEARCH_PRIMAL_EXACT:
        return (int64_t) (cls->n > MO_SEARCH_EXACT_MAX_OPS ? LARGE_EXACT_NODES
                                                           : EXACT_NODES)
               << level;
    case MO_SEARCH_PRIMAL_SPINE:
    case MO_SEARCH_PRIMAL_POLISH:
        return spine_effort(cls, how, level);
    default:
        return anneal_moves(cls, is_short ? HALVING_LEVELS : level);
    }
}

/* Levels count from 1; an untried boundary is at level 0. Of several long
 * annealing runs half start from list schedules, since the best local optimum
 * need not be near the incumbent (successive halving restarts by itself), and
 * half from a hint, where there is one. Of late successive halving runs the
 * last copy explores other receiver sets. */
static mo_status fill_job(mo_search_round_plan *m,
                          const mo_search_candidate *chosen, int copy,
                          uint64_t seed, mo_search_primal_job *it,
                          mo_error *err)
{
    const mo_method_task *task = m->search->task;
    const mo_decomp_class *cls = &m->search->classes->classes[chosen->cls];
    int level = cls->boundaries[chosen->boundary].level + 1;
    mo_search_primal_algo how = choose_algo(m, chosen, copy, level);
    bool is_late = level > HALVING_LEVELS, is_last = copy == MAX_COPIES - 1;

    *it = (mo_search_primal_job){ .cls = chosen->cls,
                                  .boundary = chosen->boundary,
                                  .how = how,
                                  .effort = effort_for(m, chosen, how, level),
                                  .seed = seed,
                                  .anew = how == MO_SEARCH_PRIMAL_ANNEAL &&
                                          level > 3 && copy % 2 == 0 &&
                                          !has_equal_branches(m, chosen->cls),
                                  .fork = m->forks[chosen->cls],
                                  .stay = is_late && !is_last,
                                  .patience =
                                      patience_for(m, chosen->cls, how, level),
                                  .solver = task->assist,
                                  .found = task->found,
                                  .seconds = level };
    if (how == MO_SEARCH_PRIMAL_HALVING)
        return find_target_range(m, it, err);
    if (how == MO_SEARCH_PRIMAL_ANNEAL && copy % 2 == 1 && m->search->blocks &&
        it->patience == 0)
        return find_hint(m, it, err);
    return MO_OK;
}

static bool is_short_job(const mo_search_round_plan *m,
                         const mo_search_candidate *o)
{
    return m->search->classes->classes[o->cls].n <= MO_SEARCH_EXACT_MAX_OPS;
}

/* Chooses the candidates with the largest gains; a long job with little gain
 * beside the first long one is postponed. */
static int choose_candidates(mo_search_round_plan *m,
                             const mo_search_candidate *options, size_t n,
                             int round)
{
    bool few = round == 0 || mo_search_memory_repair_needed(m->search);
    int most_long = few ? FIRST_MAX_LONG : MAX_LONG;
    int n_chosen = 0, n_long = 0;
    double least_ns = 0;

    for (size_t i = 0; i < n && n_chosen < MO_SEARCH_MAX_PRIMAL_JOBS / 2; i++) {
        bool takes_long = !is_short_job(m, &options[i]);

        if (takes_long &&
            (n_long == most_long || options[i].gain_ns < least_ns))
            continue;
        if (takes_long && n_long++ == 0)
            least_ns = options[i].gain_ns / MIN_SHARE;
        m->chosen[n_chosen++] = &options[i];
    }
    return n_chosen;
}

static mo_decomp_boundary *boundary_of(const mo_search_round_plan *m,
                                       const mo_search_candidate *o)
{
    return &m->search->classes->classes[o->cls].boundaries[o->boundary];
}

/* Returns how many copies of a job fill the round: more for a larger share of
 * the estimated gain. */
static int copies_for(const mo_search_round_plan *m,
                      const mo_search_candidate *o, int n_long, double sum_ns)
{
    int level = boundary_of(m, o)->level;
    int most = level < MAX_COPIES ? level + 1 : MAX_COPIES, copies;

    if (is_short_job(m, o) || o->exact)
        return 1;
    copies = (int) ((MAX_LONG - n_long) * (o->gain_ns / sum_ns)) + 1;
    return mo_min_int(copies, most);
}

/* The longest jobs, the first copy of each, come first. */
static mo_status fill_jobs(mo_search_round_plan *m, int n_chosen, uint64_t seed,
                           mo_search_primal_job *jobs, int *n, mo_error *err)
{
    mo_status status = MO_OK;
    double sum_ns = 0;
    int n_long = 0;

    for (int i = 0; i < n_chosen; i++)
        if (!is_short_job(m, m->chosen[i])) {
            sum_ns += m->chosen[i]->gain_ns;
            n_long++;
        }
    for (int c = 0; c < MAX_COPIES; c++)
        for (int i = 0;
             i < n_chosen && *n < MO_SEARCH_MAX_PRIMAL_JOBS && status == MO_OK;
             i++) {
            uint64_t own = mo_random_seed(seed, (uint64_t) *n);

            if (c < copies_for(m, m->chosen[i], n_long, sum_ns))
                status = fill_job(m, m->chosen[i], c, own, &jobs[(*n)++], err);
        }
    for (int i = 0; i < n_chosen; i++)
        boundary_of(m, m->chosen[i])->level++;
    return status;
}

mo_status mo_search_round_plan_next_jobs(mo_search_round_plan *m, int round,
                                         mo_search_primal_job *jobs, int *n,
                                         double *hoped, mo_error *err)
{
    uint64_t seed = mo_random_seed(m->search->task->seed, (uint64_t) round);
    const mo_search_candidate *options = NULL;
    size_t n_options = 0;
    mo_status status = mo_search_candidates_select(m->candidates, &options,
                                                   &n_options, hoped, err);

    *n = 0;
    if (status == MO_OK)
        status = fill_jobs(m, choose_candidates(m, options, n_options, round),
                           seed, jobs, n, err);
    if (status == MO_OK)
        status = mo_search_priced_plan_jobs(m->search, round, m->forks, jobs, n,
                                            MO_SEARCH_MAX_PRIMAL_JOBS, err);
    return status;
}

static mo_status merge_schedule(mo_search_round_plan *m,
                                const mo_search_primal_job *it,
                                mo_schedule *schedule, mo_error *err)
{
    mo_search_state *s = m->search;

    if (schedule && s->blocks)
        mo_chain_blocks_record_schedule(s->blocks, it->cls, schedule);
    return mo_decomp_class_update_upper(
        s->classes, &s->classes->classes[it->cls], it->boundary, schedule, err);
}

mo_status mo_search_round_plan_merge_result(mo_search_round_plan *m,
                                            mo_search_primal_job *it,
                                            mo_error *err)
{
    mo_decomp_class *cls = &m->search->classes->classes[it->cls];
    mo_decomp_boundary *boundary = &cls->boundaries[it->boundary];
    mo_status status;

    if (it->how == MO_SEARCH_PRIMAL_EXACT &&
        (it->lower_ns > cls->lower_ns[it->boundary] || it->schedule))
        boundary->exact_pays = true;
    status = merge_schedule(m, it, it->schedule, err);
    if (it->lower_ns > boundary->own_ns)
        boundary->own_ns = it->lower_ns;
    for (size_t i = 0; i < it->n_more; i++) {
        mo_status other = merge_schedule(m, it, it->more[i], err);

        status = status == MO_OK ? other : status;
    }
    free(it->more);
    free(it->capacity_bytes);
    it->schedule = NULL;
    it->capacity_bytes = NULL;
    it->more = NULL;
    it->n_more = 0;
    return status;
}
