/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Schedules of segments as a job of the search: which subproblems (class and
 * boundary, candidate_select.h), by which algorithm (primal_job.h) and with how
 * much effort, by size, structure and level of the subproblem.
 */
#include <math.h>
#include <stdlib.h>

#include "base/minmax.h"
#include "base/random.h"
#include "solvers/search/driver/candidate_select.h"
#include "solvers/search/driver/job.h"
#include "solvers/search/driver/memory_repair.h"
#include "solvers/search/driver/primal_job.h"

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
    HALVING_PATIENCE = 4,      /* of the last start, after the rungs */
    ANNEAL_PATIENCE = 2,       /* of annealing in between */
    HALVING_TARGET_PART = 12,  /* width of the target times, as a part of the
                         block's lower  bound */
    MIN_MOVES_MAX_OPS = 20000, /* up to so many get MIN_MOVES in any case */
    MAX_ITEMS = 256,           /* in a round */
    MAX_COPIES = 4,            /* of an item, with different seeds */
    MIN_SHARE = 10 /* a tenth of the largest gain is still worth a long item */
};

/* Of work to its estimate. */
#define LEAST_RATIO 0.03
#define MOST_RATIO  32.0

typedef struct segments_job {
    mo_search_state *search;
    mo_search_candidates *candidates;
    mo_search_primal_job *items; /* of the round, MAX_ITEMS at most */
    int n;
    double planned; /* work of the items by estimates */
    double ratio;   /* of work to estimates so far */
} segments_job;

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

/* Where branches differ, exact search succeeds at once or not at all, even
 * with many ops: a short run shows it. */
static bool is_exact_next(const mo_search_state *s,
                          const mo_search_candidate *chosen, int level)
{
    const mo_decomp_class *cls = &s->classes->classes[chosen->cls];

    if (cls->n <= MO_SEARCH_EXACT_MAX_OPS)
        return true;
    if (level == 1)
        return cls->n <= SHORT_EXACT_MAX_OPS && s->forks[chosen->cls] &&
               !mo_forkjoin_has_many_equal_branches(s->forks[chosen->cls]);
    return level % 2 == 0 && (cls->n <= MO_SEARCH_EXACT_RARE_MAX_OPS ||
                              cls->boundaries[chosen->boundary].exact_pays);
}

/* If most of the class is one block there is no chain to decompose along. */
static bool has_spine(const mo_search_state *s, int number)
{
    const mo_decomp_class *cls = &s->classes->classes[number];
    const mo_bound_chain *chain =
        s->blocks ? s->blocks->partitions[number].chain : NULL;

    return chain && cls->n > SPINE_MIN_OPS &&
           mo_bound_chain_largest(chain)->n < cls->n / 2;
}

/* A MILP solver is used where exact search has failed repeatedly: its results
 * depend on the clock. */
static bool is_milp_next(const mo_search_state *s, const mo_decomp_class *cls,
                         int level)
{
    const mo_method_task *task = s->task;

    return task->assist && task->found && cls->n <= MILP_MAX_OPS &&
           level >= MILP_LEVEL && level % 2 == 0;
}

/* Sets the hint that a failed bound job left for the largest block on the
 * shortest path by lower bounds, if there is one. */
static mo_status find_hint(const mo_search_state *s, mo_search_primal_job *it,
                           mo_error *err)
{
    const mo_chain_blocks *blocks = s->blocks;
    const mo_chain_partition *c = &blocks->partitions[it->cls];
    int *boundaries = calloc((size_t) c->chain->n, sizeof *boundaries),
        most = -1;
    mo_status status =
        boundaries ? mo_chain_blocks_shortest_path(
                         blocks, it->cls, it->boundary, NULL, boundaries, err)
                   : mo_fail_memory(err);

    for (int i = 0; i < c->chain->n && status == MO_OK; i++) {
        const mo_bound_segment *segment = &c->chain->segments[i];
        const mo_decomp_solution_hint *hint =
            &blocks->blocks[c->block[i]].hints[boundaries[i]];

        if (!hint->device || segment->n <= most)
            continue;
        most = segment->n;
        it->hint = hint;
        it->segment = segment;
        it->segment_boundary = boundaries[i];
    }
    free(boundaries);
    return status;
}

/* Sets the largest block on the shortest path by lower bounds and the range of
 * target times for it. */
static mo_status find_target_range(const mo_search_state *s,
                                   mo_search_primal_job *it, mo_error *err)
{
    const mo_chain_blocks *blocks = s->blocks;
    const mo_chain_partition *c = &blocks->partitions[it->cls];
    int *boundaries = calloc((size_t) c->chain->n, sizeof *boundaries), i = 0;
    mo_status status =
        boundaries ? mo_chain_blocks_shortest_path(
                         blocks, it->cls, it->boundary, NULL, boundaries, err)
                   : mo_fail_memory(err);

    if (status == MO_OK) {
        const mo_chain_block *b;

        while (&c->chain->segments[i] != mo_bound_chain_largest(c->chain))
            i++;
        b = &blocks->blocks[c->block[i]];
        it->segment = &c->chain->segments[i];
        it->segment_boundary = boundaries[i];
        it->hint =
            b->hints[boundaries[i]].device ? &b->hints[boundaries[i]] : NULL;
        it->from_ns = b->lower_ns[boundaries[i]];
        if (it->from_ns == INT64_MAX)
            it->from_ns = 0;
        it->to_ns = it->from_ns + it->from_ns / HALVING_TARGET_PART;
        if (it->to_ns > b->upper_ns[boundaries[i]])
            it->to_ns = b->upper_ns[boundaries[i]];
    }
    free(boundaries);
    return status;
}

/* Many equal branches: repeated successive halving, since its result depends
 * more on the random starts than on their length, with annealing of the best
 * in between. */
static bool is_halving_next(const mo_search_state *s, int number, int copy,
                            int level)
{
    if (!mo_forkjoin_has_many_equal_branches(s->forks[number]) || level == 1)
        return false;
    if (level <= HALVING_LEVELS)
        return level % 2 == 0 || copy > 0;
    return copy > 1 || (level + copy) % 2 == 0;
}

static int patience_for(const mo_search_state *s, int number,
                        mo_search_primal_algo how, int level)
{
    if (!mo_forkjoin_has_many_equal_branches(s->forks[number]) ||
        level <= HALVING_LEVELS)
        return 0;
    return how == MO_SEARCH_PRIMAL_HALVING ? HALVING_PATIENCE : ANNEAL_PATIENCE;
}

/* Only the first copy of a job is an exact search or a MILP. Along a spine:
 * from scratch at odd levels, polishing at even ones. */
static mo_search_primal_algo choose_algo(const mo_search_state *s,
                                         const mo_search_candidate *chosen,
                                         int copy, int level)
{
    const mo_decomp_class *cls = &s->classes->classes[chosen->cls];

    if (copy == 0 && is_milp_next(s, cls, level))
        return MO_SEARCH_PRIMAL_MILP;
    if (is_halving_next(s, chosen->cls, copy, level))
        return MO_SEARCH_PRIMAL_HALVING;
    if (copy == 0 && (chosen->exact || is_exact_next(s, chosen, level)))
        return MO_SEARCH_PRIMAL_EXACT;
    if (has_spine(s, chosen->cls))
        return level % 2 == 1 ? MO_SEARCH_PRIMAL_SPINE
                              : MO_SEARCH_PRIMAL_POLISH;
    return MO_SEARCH_PRIMAL_ANNEAL;
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

static int64_t effort_for(const mo_search_state *s,
                          const mo_search_candidate *chosen,
                          mo_search_primal_algo how, int level)
{
    const mo_decomp_class *cls = &s->classes->classes[chosen->cls];
    bool is_short =
        mo_forkjoin_has_many_equal_branches(s->forks[chosen->cls]) &&
        level > HALVING_LEVELS;

    switch (how) {
    case MO_SEARCH_PRIMAL_HALVING:
        /* Late runs are short; their last start goes on alone. */
        return (level > HALVING_LEVELS
                    ? HALVING_WORK
                    : (int64_t) HALVING_WORK << (level - 2)) /
                   cls->n +
               1;
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
static mo_status choose_job(const mo_search_state *s,
                            const mo_search_candidate *chosen, int copy,
                            uint64_t seed, mo_search_primal_job *it,
                            mo_error *err)
{
    const mo_method_task *task = s->task;
    const mo_decomp_class *cls = &s->classes->classes[chosen->cls];
    int level = cls->boundaries[chosen->boundary].level + 1;
    mo_search_primal_algo how = choose_algo(s, chosen, copy, level);
    bool is_late = level > HALVING_LEVELS, is_last = copy == MAX_COPIES - 1;

    *it = (mo_search_primal_job){
        .cls = chosen->cls,
        .boundary = chosen->boundary,
        .how = how,
        .effort = effort_for(s, chosen, how, level),
        .seed = seed,
        .anew = how == MO_SEARCH_PRIMAL_ANNEAL && level > 3 && copy % 2 == 0 &&
                !mo_forkjoin_has_many_equal_branches(s->forks[chosen->cls]),
        .fork = s->forks[chosen->cls],
        .stay = is_late && !is_last,
        .patience = patience_for(s, chosen->cls, how, level),
        .solver = task->assist,
        .found = task->found,
        .seconds = level
    };
    if (how == MO_SEARCH_PRIMAL_HALVING)
        return find_target_range(s, it, err);
    if (how == MO_SEARCH_PRIMAL_ANNEAL && copy % 2 == 1 && s->blocks &&
        it->patience == 0)
        return find_hint(s, it, err);
    return MO_OK;
}

static void close_job(void *self)
{
    segments_job *m = self;

    for (int i = 0; i < m->n; i++)
        mo_search_primal_job_clear(&m->items[i]);
    mo_search_candidates_free(m->candidates);
    free(m->items);
    free(m);
}

static mo_status open_job(mo_search_state *s, void **self, mo_error *err)
{
    segments_job *m = calloc(1, sizeof *m);

    if (!m)
        return mo_fail_memory(err);
    *self = m;
    m->search = s;
    m->ratio = 1;
    m->items = calloc(MAX_ITEMS, sizeof *m->items);
    return m->items ? mo_search_candidates_new(s, &m->candidates, err)
                    : mo_fail_memory(err);
}

static bool takes_long(const mo_search_state *s, const mo_search_candidate *o)
{
    return s->classes->classes[o->cls].n > MO_SEARCH_EXACT_MAX_OPS;
}

/* Adds an item for a candidate if there is work for it. */
static mo_status add_item(segments_job *m, const mo_search_candidate *o,
                          int copy, uint64_t seed, int64_t *left, mo_error *err)
{
    mo_search_primal_job *it = &m->items[m->n];
    mo_status status = choose_job(
        m->search, o, copy, mo_random_seed(seed, (uint64_t) m->n), it, err);
    int64_t work;

    if (status != MO_OK)
        return status;
    work = mo_search_primal_job_work(m->search->classes, it);
    if (work <= *left) {
        *left -= work;
        m->n++;
    }
    return MO_OK;
}

/* One item for each candidate, those with the largest gains first; then
 * copies with other seeds, more of them at higher levels.  A long item with
 * little gain beside the first long one is postponed. */
static mo_status add_items(segments_job *m,
                           const mo_search_candidate *candidates, size_t n,
                           const mo_search_grant *grant, mo_error *err)
{
    const mo_search_state *s = m->search;
    int64_t left = (int64_t) ((double) grant->work / m->ratio);
    int64_t first = left;
    mo_status status = MO_OK;

    for (int copy = 0; copy < MAX_COPIES; copy++) {
        double least_ns = 0;

        for (size_t i = 0; i < n && m->n < MAX_ITEMS && left > 0; i++) {
            const mo_search_candidate *o = &candidates[i];
            mo_decomp_boundary *boundary =
                &s->classes->classes[o->cls].boundaries[o->boundary];
            int before = m->n;

            if (takes_long(s, o) && o->gain_ns < least_ns)
                continue;
            if (takes_long(s, o) && least_ns == 0)
                least_ns = o->gain_ns / MIN_SHARE;
            if (copy > 0 &&
                (!takes_long(s, o) || o->exact || copy >= boundary->level ||
                 mo_search_memory_repair_needed(s)))
                continue;
            if (copy > 0) /* the level was raised by the first copy */
                boundary->level--;
            status = add_item(m, o, copy, grant->seed, &left, err);
            if (status != MO_OK)
                return status;
            boundary->level += copy > 0 || m->n > before;
        }
    }
    m->planned = (double) (first - left);
    return status;
}

static mo_status plan_job(void *self, const mo_search_grant *grant, int *n,
                          mo_error *err)
{
    segments_job *m = self;
    const mo_search_candidate *candidates = NULL;
    size_t n_candidates = 0;
    mo_status status = mo_search_candidates_select(
        m->candidates, &candidates, &n_candidates, &m->search->hoped, err);

    m->n = 0;
    if (status == MO_OK)
        status = add_items(m, candidates, n_candidates, grant, err);
    *n = m->n;
    return status;
}

static mo_status run_job(void *self, int item, const mo_stop *stop,
                         mo_error *err)
{
    segments_job *m = self;

    return mo_search_primal_job_run(m->search->classes, &m->items[item], stop,
                                    err);
}

static mo_status merge_job(void *self, const mo_stop *stop, mo_error *err)
{
    segments_job *m = self;
    double done = (double) atomic_load(stop->work);
    mo_status status;

    if (m->planned > 0)
        m->ratio = fmax(LEAST_RATIO,
                        fmin(MOST_RATIO, (m->ratio + done / m->planned) / 2));
    status = mo_search_primal_jobs_merge(m->search, m->items, (size_t) m->n,
                                         "improving segments", err);
    m->n = 0;
    return status;
}

const mo_search_job mo_search_job_segments = {
    .name = "schedules of segments",
    .ablation = MO_ABLATION_job_segments,
    .weight = 4,
    .on_segments = true,
    .open = open_job,
    .close = close_job,
    .plan = plan_job,
    .run = run_job,
    .merge = merge_job,
};
