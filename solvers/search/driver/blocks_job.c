/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lower bounds of blocks as a job of the search: which block at which boundary,
 * and which target.
 *
 * The lower bound is the length of a shortest path. To raise it, every path
 * that is too short has to become longer: targets are set for the blocks on
 * one path after the other, in proportion to the gap between lower bound and
 * best known time of a block, until the shortest path would be long enough if
 * all targets were proven.  Load bounds come first; a long search for a target
 * is interrupted at the end of a round and continued in a later one.
 */
#include <stdlib.h>

#include "base/array.h"
#include "base/minmax.h"
#include "solvers/search/bound/load/load_bound.h"
#include "solvers/search/driver/bound_job.h"
#include "solvers/search/driver/bound_targets.h"
#include "solvers/search/driver/job.h"

enum {
    MAX_ITEMS = 64,          /* long ones in a round */
    COLGEN_FIRST_EFFORT = 5, /* first that raises large blocks */
    MIN_STEPS = 300,         /* of column generation in a round */
    MAX_STEPS = 1200
};

/* Of a step of column generation, and of an exact search at effort 0, which
 * quadruples. */
#define STEP_WORK  INT64_C(2500000)
#define EXACT_WORK INT64_C(100000000)

#define DEFAULT_GAP 0.02 /* gap to aim at if the task has none */
#define NEAR_GAP    4    /* times that gap: aim at once */
#define GAP_SHARE   0.85 /* of the gap: proving a little more costs the same */

typedef struct blocks_job {
    mo_search_state *search;
    mo_chain_blocks *blocks;
    mo_search_bound_targets targets;
    mo_forkjoin **forks;        /* by block; NULL: not needed yet */
    mo_search_bound_job *items; /* of the round */
    size_t n, room;
    mo_search_bound_job *interrupted; /* oldest first */
    size_t n_interrupted, interrupted_room;
} blocks_job;

static void close_job(void *self)
{
    blocks_job *m = self;

    for (int i = 0; m->forks && i < m->blocks->n; i++)
        mo_forkjoin_free(m->forks[i]);
    free(m->forks);
    mo_search_bound_targets_clear(&m->targets);
    for (size_t i = 0; i < m->n; i++)
        mo_search_bound_job_clear(&m->items[i]);
    for (size_t i = 0; i < m->n_interrupted; i++)
        mo_search_bound_job_clear(&m->interrupted[i]);
    free(m->items);
    free(m->interrupted);
    free(m);
}

static mo_status open_job(mo_search_state *s, void **self, mo_error *err)
{
    blocks_job *m;
    mo_status status;

    if (!s->blocks)
        return MO_OK;
    m = calloc(1, sizeof *m);
    if (!m)
        return mo_fail_memory(err);
    m->search = s;
    m->blocks = s->blocks;
    status = mo_search_bound_targets_init(&m->targets, s, err);
    m->forks = calloc((size_t) m->blocks->n + 1, sizeof *m->forks);
    if (status == MO_OK && !m->forks)
        status = mo_fail_memory(err);
    if (status == MO_OK)
        *self = m;
    else
        close_job(m);
    return status;
}

/* Takes the work of a search from *left; returns its steps. */
static int64_t take_steps(int64_t *left)
{
    int64_t steps =
        mo_max_i64(MIN_STEPS, mo_min_i64(MAX_STEPS, *left / STEP_WORK));

    *left -= steps * STEP_WORK;
    return steps;
}

static mo_status find_fork(blocks_job *m, int block, mo_error *err)
{
    const mo_chain_block *b = &m->blocks->blocks[block];

    return m->forks[block]
               ? MO_OK
               : mo_forkjoin_find(&m->blocks->partitions[b->cls].places,
                                  b->segment, &m->forks[block], err);
}

/* Adds an item for a block at a boundary and takes its work from *left. */
static mo_status add_item(blocks_job *m, int block, int boundary,
                          mo_search_bound_algo how, int64_t *left,
                          mo_error *err)
{
    int effort =
        mo_search_bound_target_at(&m->targets, block, boundary)->effort;
    mo_status status = MO_ARRAY_GROW(m->items, m->n, m->room, err);

    if (status == MO_OK)
        status = find_fork(m, block, err);
    if (status != MO_OK)
        return status;
    m->items[m->n++] = (mo_search_bound_job){
        .block = block,
        .boundary = boundary,
        .how = how,
        .target_ns = m->targets.raised_ns[block][boundary],
        .effort = effort,
        .steps = how == MO_SEARCH_BOUND_COLGEN ? take_steps(left) : 0,
        .fork = m->forks[block],
        .failed_ns = INT64_MAX
    };
    if (how == MO_SEARCH_BOUND_LOAD)
        *left -= mo_load_bound_work(m->forks[block]);
    else if (how == MO_SEARCH_BOUND_EXACT)
        *left -= EXACT_WORK << (2 * effort);
    return MO_OK;
}

/* Adds load bounds that have not run: of all blocks and boundaries if there is
 * work for them, else of those on the shortest path. */
static mo_status add_load_bounds(blocks_job *m, int64_t *left, mo_error *err)
{
    int64_t work = 0;
    mo_status status;

    mo_search_bound_targets_reset(&m->targets);
    mo_decomp_path_shortest(m->search->path);
    status = mo_search_bound_targets_count_uses(&m->targets, err);
    for (int i = 0; i < m->blocks->n && work <= *left; i++)
        for (int p = 0; p < m->targets.n_boundaries && status == MO_OK; p++)
            if (mo_search_bound_target_at(&m->targets, i, p)->effort == 0) {
                status = find_fork(m, i, err);
                if (status == MO_OK)
                    work += mo_load_bound_work(m->forks[i]);
            }
    for (int i = 0; i < m->blocks->n; i++)
        for (int p = 0;
             p<m->targets.n_boundaries && * left> 0 && status == MO_OK; p++) {
            const mo_search_bound_target *target =
                mo_search_bound_target_at(&m->targets, i, p);

            if (target->effort == 0 && (work <= *left || target->uses > 0) &&
                m->blocks->blocks[i].lower_ns[p] != INT64_MAX) {
                status = add_item(m, i, p, MO_SEARCH_BOUND_LOAD, left, err);
                work -= mo_load_bound_work(m->forks[i]);
            }
        }
    return status;
}

/* Continues interrupted searches, unless the target has been proven, or
 * disproved by a schedule, meanwhile. */
static mo_status continue_items(blocks_job *m, int64_t *left, mo_error *err)
{
    size_t n_left = 0;
    mo_status status = MO_OK;

    for (size_t i = 0; i < m->n_interrupted; i++) {
        mo_search_bound_job *it = &m->interrupted[i];
        const mo_chain_block *b = &m->blocks->blocks[it->block];

        if (b->lower_ns[it->boundary] >= it->target_ns ||
            b->upper_ns[it->boundary] < it->target_ns) {
            mo_search_bound_job_clear(it);
        } else if (*left > 0 && m->n < MAX_ITEMS && status == MO_OK) {
            it->steps = take_steps(left);
            status = MO_ARRAY_GROW(m->items, m->n, m->room, err);
            if (status == MO_OK)
                m->items[m->n++] = *it;
            else
                mo_search_bound_job_clear(it);
        } else {
            m->interrupted[n_left++] = *it;
        }
    }
    m->n_interrupted = n_left;
    return status;
}

static bool is_searched(const blocks_job *m, int block, int boundary)
{
    for (size_t i = 0; i < m->n; i++)
        if (m->items[i].block == block && m->items[i].boundary == boundary)
            return true;
    for (size_t i = 0; i < m->n_interrupted; i++)
        if (m->interrupted[i].block == block &&
            m->interrupted[i].boundary == boundary)
            return true;
    return false;
}

/* Targets that were raised first are on the shortest paths. */
static mo_status add_targets(blocks_job *m, int64_t *left, mo_error *err)
{
    int most = mo_search_bound_targets_max_paths(&m->targets);
    mo_status status = MO_OK;

    for (int turn = 1; turn <= most && *left > 0; turn++)
        for (int i = 0; i < m->blocks->n; i++)
            for (int p = 0; p<m->targets.n_boundaries && * left> 0 &&
                            m->n < MAX_ITEMS && status == MO_OK;
                 p++)
                if (mo_search_bound_target_at(&m->targets, i, p)->turn ==
                        turn &&
                    !is_searched(m, i, p))
                    status = add_item(
                        m, i, p,
                        mo_search_bound_targets_is_exact(&m->targets, i)
                            ? MO_SEARCH_BOUND_EXACT
                            : MO_SEARCH_BOUND_COLGEN,
                        left, err);
    return status;
}

/* Returns half the way to the makespan; but where the tolerated gap is near,
 * by the makespan hoped for, all of it at once: small raises cost as much as
 * large ones. */
static int64_t choose_goal(const blocks_job *m)
{
    double lower_ns = (double) m->search->lower_ns;
    double upper_ns = (double) m->search->upper_path_ns;
    double asked =
        m->search->task->gap > 0 ? m->search->task->gap : DEFAULT_GAP;
    double enough_ns =
        (1 - m->search->hoped) * (1 - GAP_SHARE * asked) * upper_ns;

    if (upper_ns - lower_ns < NEAR_GAP * asked * upper_ns &&
        enough_ns > lower_ns)
        return (int64_t) enough_ns;
    return m->search->lower_ns +
           (m->search->upper_path_ns - m->search->lower_ns) / 2;
}

static mo_status plan_job(void *self, const mo_search_grant *grant, int *n,
                          mo_error *err)
{
    blocks_job *m = self;
    int64_t left = grant->work;
    mo_status status;

    m->n = 0;
    status = add_load_bounds(m, &left, err);
    if (m->n == 0 && status == MO_OK &&
        m->search->upper_path_ns > m->search->lower_ns &&
        grant->work >= MIN_STEPS * STEP_WORK) {
        status = continue_items(m, &left, err);
        while (status == MO_OK && left > 0) {
            status = mo_search_bound_targets_raise_paths(&m->targets,
                                                         choose_goal(m), err);
            if (status == MO_OK)
                status = add_targets(m, &left, err);
            if (m->n > 0 || !mo_search_bound_targets_raise_effort(&m->targets))
                break;
        }
    }
    *n = (int) m->n;
    return status;
}

static mo_status run_job(void *self, int item, const mo_stop *stop,
                         mo_error *err)
{
    blocks_job *m = self;
    mo_search_bound_job *it = &m->items[item];

    if (mo_stop_reached(stop))
        return MO_OK;
    if (it->how == MO_SEARCH_BOUND_LOAD)
        mo_stop_spend(stop, mo_load_bound_work(it->fork));
    it->has_run = true;
    return mo_search_bound_job_run(m->blocks, it, stop, err);
}

static mo_status merge_item(blocks_job *m, mo_search_bound_job *it,
                            mo_error *err)
{
    int64_t *lower_ns = &m->blocks->blocks[it->block].lower_ns[it->boundary];
    mo_search_bound_target *a =
        mo_search_bound_target_at(&m->targets, it->block, it->boundary);

    if (it->ladder) {
        mo_status status = MO_ARRAY_GROW(m->interrupted, m->n_interrupted,
                                         m->interrupted_room, err);

        if (status == MO_OK)
            m->interrupted[m->n_interrupted++] = *it;
        else
            mo_search_bound_job_clear(it);
        return status;
    }
    if (!it->has_run)
        return MO_OK;
    if (it->how == MO_SEARCH_BOUND_LOAD)
        a->effort = COLGEN_FIRST_EFFORT;
    else
        a->failed_ns = mo_min_i64(a->failed_ns, it->failed_ns);
    if (it->lower_ns > *lower_ns) {
        *lower_ns = it->lower_ns;
        m->blocks->blocks[it->block].reasons[it->boundary] = it->reason;
    }
    if (it->hint.device)
        mo_chain_blocks_set_hint(m->blocks, it->block, it->boundary, it->hint);
    return MO_OK;
}

static mo_status merge_job(void *self, const mo_stop *stop, mo_error *err)
{
    blocks_job *m = self;
    mo_status status = MO_OK;

    (void) stop;
    for (size_t i = 0; i < m->n; i++) {
        mo_status merged =
            merge_item(m, &m->items[i], status == MO_OK ? err : NULL);

        status = status == MO_OK ? merged : status;
    }
    m->n = 0;
    return status == MO_OK
               ? mo_search_update_bounds(m->search, "bounds of blocks", err)
               : status;
}

const mo_search_job mo_search_job_blocks = {
    .name = "bounds of blocks",
    .ablation = MO_ABLATION_job_blocks,
    .weight = 4,
    .opens = true,
    .open = open_job,
    .close = close_job,
    .plan = plan_job,
    .run = run_job,
    .merge = merge_job,
};
