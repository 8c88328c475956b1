/* SPDX-License-Identifier: Apache-2.0 */
#include "solvers/search/driver/job_choice.h"

#include <stdlib.h>

#include "base/minmax.h"

enum {
    SPINE_MIN_OPS = 300,  /* more are scheduled along a spine at some levels */
    POLISH_WORK = 200000, /* ops of the whole, per move in a block */
    MILP_MAX_OPS = 60,    /* at most so many in a MILP */
    MILP_LEVEL = 7,
    SHORT_EXACT_MAX_OPS =
        1000, /* at most so many get a short exact search at level 1 */
    LARGE_EXACT_NODES =
        500, /* doubles by level; for more than MO_SEARCH_EXACT_MAX_OPS */
    EXACT_NODES = 2000, /* the same for few ops */
    MIN_MOVES = 2000,
    HALVING_WORK = 250000, /* ops x moves of each start of successive halving at
                           level 2; doubles ... */
    HALVING_LEVELS = 3, /* ... up to this level, as do the moves of annealing */
    HALVING_PATIENCE = 4,     /* of the last start, after the rungs */
    ANNEAL_PATIENCE = 2,      /* of annealing in between */
    HALVING_TARGET_PART = 12, /* width of the target times, as a part of the
                        block's lower  bound */
    MIN_MOVES_MAX_OPS = 20000 /* up to so many get MIN_MOVES in any case */
};

typedef struct job_choice {
    mo_search_state *search;
    mo_forkjoin *const *forks; /* by class */
} job_choice;

const mo_bound_segment *mo_search_largest_segment(const mo_bound_chain *chain)
{
    const mo_bound_segment *largest = &chain->segments[0];

    for (int s = 1; s < chain->n; s++)
        if (chain->segments[s].n > largest->n)
            largest = &chain->segments[s];
    return largest;
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
static bool has_equal_branches(const job_choice *m, int cls)
{
    return m->forks[cls] && mo_forkjoin_has_many_equal_branches(m->forks[cls]);
}

/* Where branches differ, exact search succeeds at once or not at all, even
 * with many ops: a short run shows it. */
static bool is_exact_next(const job_choice *m,
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
static bool has_spine(const job_choice *m, int number)
{
    const mo_decomp_class *cls = &m->search->classes->classes[number];
    const mo_bound_chain *chain =
        m->search->blocks ? m->search->blocks->partitions[number].chain : NULL;

    return chain && cls->n > SPINE_MIN_OPS &&
           mo_search_largest_segment(chain)->n < cls->n / 2;
}

/* A MILP solver is used where exact search has failed repeatedly: its results
 * depend on the clock. */
static bool is_milp_next(const job_choice *m, const mo_decomp_class *cls,
                         int level)
{
    const mo_method_task *task = m->search->task;

    return task->assist && task->found && cls->n <= MILP_MAX_OPS &&
           level >= MILP_LEVEL && level % 2 == 0;
}

/* Sets the hint that a failed bound job left for the largest block on the
 * shortest path by lower bounds, if there is one. */
static mo_status find_hint(const job_choice *m, mo_search_primal_job *it,
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
static mo_status find_target_range(const job_choice *m,
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

        while (&c->chain->segments[s] != mo_search_largest_segment(c->chain))
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
static bool is_halving_next(const job_choice *m, int number, int copy,
                            int level)
{
    if (!has_equal_branches(m, number) || level == 1)
        return false;
    if (level <= HALVING_LEVELS)
        return level % 2 == 0 || copy > 0;
    return copy > 1 || (level + copy) % 2 == 0;
}

static int patience_for(const job_choice *m, int number,
                        mo_search_primal_algo how, int level)
{
    if (!has_equal_branches(m, number) || level <= HALVING_LEVELS)
        return 0;
    return how == MO_SEARCH_PRIMAL_HALVING ? HALVING_PATIENCE : ANNEAL_PATIENCE;
}

/* Only the first copy of a job is an exact search or a MILP. Along a spine:
 * from scratch at odd levels, polishing at even ones. */
static mo_search_primal_algo choose_algo(const job_choice *m,
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

static int64_t effort_for(const job_choice *m,
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
mo_status mo_search_job_choose(mo_search_state *search,
                               mo_forkjoin *const *forks,
                               const mo_search_candidate *chosen, int copy,
                               uint64_t seed, mo_search_primal_job *it,
                               mo_error *err)
{
    const job_choice choice = { search, forks }, *m = &choice;
    const mo_method_task *task = m->search->task;
    const mo_decomp_class *cls = &m->search->classes->classes[chosen->cls];
    int level = cls->boundaries[chosen->boundary].level + 1;
    mo_search_primal_algo how = choose_algo(m, chosen, copy, level);
    bool is_late = level > HALVING_LEVELS,
         is_last = copy == MO_SEARCH_MAX_COPIES - 1;

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
