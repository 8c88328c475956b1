/* SPDX-License-Identifier: Apache-2.0 */
#include "solvers/search/driver/bound_plan.h"

#include <stdlib.h>

#include "solvers/search/driver/bound_targets.h"

enum {
    COLGEN_FIRST_EFFORT = 5, /* first that raises large blocks */
    LOAD_BOUND_WORK = 20000, /* ops x boundaries: all run at once */
    COLGEN_STEPS = 1200      /* per round: about as long as a primal job */
};

#define DEFAULT_GAP 0.02 /* gap to aim at if the task has none */
#define NEAR_GAP    4    /* times that gap: aim at once */
#define GAP_SHARE   0.85 /* of the gap: proving a little more costs the same */

struct mo_search_bound_plan {
    mo_search_state *search;
    mo_chain_blocks *blocks;
    mo_search_bound_targets targets;
    mo_forkjoin **forks; /* by block; NULL: not needed yet */
    mo_search_bound_job
        interrupted[MO_SEARCH_MAX_BOUND_JOBS]; /* oldest first */
    int n_interrupted;
};

mo_status mo_search_bound_plan_new(mo_search_state *search,
                                   mo_search_bound_plan **plan, mo_error *err)
{
    mo_search_bound_plan *m = calloc(1, sizeof *m);
    mo_status status;

    if (!m)
        return mo_fail_memory(err);
    m->search = search;
    m->blocks = search->blocks;
    status = mo_search_bound_targets_init(&m->targets, search, err);
    m->forks = calloc((size_t) m->blocks->n + 1, sizeof *m->forks);
    if (status == MO_OK && !m->forks)
        status = mo_fail_memory(err);
    if (status == MO_OK)
        *plan = m;
    else
        mo_search_bound_plan_free(m);
    return status;
}

void mo_search_bound_plan_free(mo_search_bound_plan *m)
{
    if (!m)
        return;
    for (int i = 0; m->forks && i < m->blocks->n; i++)
        mo_forkjoin_free(m->forks[i]);
    free(m->forks);
    mo_search_bound_targets_clear(&m->targets);
    for (int i = 0; i < m->n_interrupted; i++)
        mo_search_bound_job_clear(&m->interrupted[i]);
    free(m);
}

/* Fills a job for a block at a boundary; the caller reserves *job. */
static mo_status add_job(mo_search_bound_plan *m, int block, int boundary,
                         mo_search_bound_algo how, mo_search_bound_job *job,
                         mo_error *err)
{
    const mo_chain_block *b = &m->blocks->blocks[block];
    mo_status status = MO_OK;

    if (!m->forks[block])
        status = mo_forkjoin_find(&m->blocks->partitions[b->cls].places,
                                  b->segment, &m->forks[block], err);
    *job = (mo_search_bound_job){
        .block = block,
        .boundary = boundary,
        .how = how,
        .target_ns = m->targets.raised_ns[block][boundary],
        .effort =
            mo_search_bound_target_at(&m->targets, block, boundary)->effort,
        .steps = COLGEN_STEPS,
        .fork = m->forks[block],
        .failed_ns = INT64_MAX
    };
    return status;
}

static bool needs_load_bound(const mo_search_bound_plan *m, int block,
                             int boundary)
{
    const mo_chain_block *b = &m->blocks->blocks[block];

    return mo_search_bound_target_at(&m->targets, block, boundary)->effort ==
               0 &&
           b->lower_ns[boundary] != INT64_MAX;
}

/* Adds load bounds for blocks on the path that have had none. */
static mo_status plan_load_bounds(mo_search_bound_plan *m,
                                  mo_search_bound_job *jobs, int most, int *n,
                                  mo_error *err)
{
    mo_status status;

    mo_search_bound_targets_reset(&m->targets);
    mo_decomp_path_shortest(m->search->path);
    status = mo_search_bound_targets_count_uses(&m->targets, err);
    for (int i = 0; i < m->blocks->n; i++)
        for (int p = 0;
             p < m->targets.n_boundaries && *n < most && status == MO_OK; p++)
            if (mo_search_bound_target_at(&m->targets, i, p)->uses > 0 &&
                needs_load_bound(m, i, p))
                status =
                    add_job(m, i, p, MO_SEARCH_BOUND_LOAD, &jobs[(*n)++], err);
    return status;
}

mo_status mo_search_bound_plan_initial_jobs(mo_search_bound_plan *m,
                                            mo_search_bound_job **jobs, int *n,
                                            mo_error *err)
{
    int64_t count = 0;
    mo_status status = MO_OK;

    *n = 0;
    *jobs = NULL;
    for (int i = 0; i < m->blocks->n; i++)
        for (int p = 0; p < m->targets.n_boundaries; p++)
            count +=
                needs_load_bound(m, i, p) ? m->blocks->blocks[i].segment->n : 0;
    if (count > LOAD_BOUND_WORK)
        return MO_OK;
    *jobs = calloc((size_t) count + 1, sizeof **jobs);
    if (!*jobs)
        return mo_fail_memory(err);
    mo_search_bound_targets_reset(&m->targets);
    for (int i = 0; i < m->blocks->n; i++)
        for (int p = 0; p < m->targets.n_boundaries && status == MO_OK; p++)
            if (needs_load_bound(m, i, p))
                status = add_job(m, i, p, MO_SEARCH_BOUND_LOAD,
                                 &(*jobs)[(*n)++], err);
    return status;
}

/* Whether the target has been proven, or disproved by a schedule, meanwhile. */
static bool is_settled(const mo_search_bound_plan *m,
                       const mo_search_bound_job *it)
{
    const mo_chain_block *b = &m->blocks->blocks[it->block];

    return b->lower_ns[it->boundary] >= it->target_ns ||
           b->upper_ns[it->boundary] < it->target_ns;
}

static void continue_jobs(mo_search_bound_plan *m, mo_search_bound_job *jobs,
                          int most, int *n)
{
    int left = 0;

    for (int i = 0; i < m->n_interrupted; i++) {
        mo_search_bound_job *it = &m->interrupted[i];

        if (is_settled(m, it))
            mo_search_bound_job_clear(it);
        else if (*n < most)
            jobs[(*n)++] = *it;
        else
            m->interrupted[left++] = *it;
    }
    m->n_interrupted = left;
}

static bool is_planned(const mo_search_bound_job *jobs, int n, int block,
                       int boundary)
{
    for (int i = 0; i < n; i++)
        if (jobs[i].block == block && jobs[i].boundary == boundary)
            return true;
    return false;
}

/* Targets that were raised first are on the shortest paths. */
static mo_status plan_target_jobs(mo_search_bound_plan *m,
                                  mo_search_bound_job *jobs, int most, int *n,
                                  mo_error *err)
{
    mo_status status = MO_OK;
    int n_before = *n;

    for (int turn = 1;
         turn <= mo_search_bound_targets_max_paths(&m->targets) && *n < most;
         turn++)
        for (int i = 0; i < m->blocks->n; i++)
            for (int p = 0;
                 p < m->targets.n_boundaries && *n < most && status == MO_OK;
                 p++)
                if (mo_search_bound_target_at(&m->targets, i, p)->turn ==
                        turn &&
                    !is_planned(jobs, n_before, i, p))
                    status =
                        add_job(m, i, p,
                                mo_search_bound_targets_is_exact(&m->targets, i)
                                    ? MO_SEARCH_BOUND_EXACT
                                    : MO_SEARCH_BOUND_COLGEN,
                                &jobs[(*n)++], err);
    return status;
}

/* Returns half the way to the makespan; but where the tolerated gap is near,
 * by the makespan hoped for, all of it at once: small raises cost as much as
 * large ones. */
static int64_t choose_goal(const mo_search_bound_plan *m, double hoped)
{
    double lower_ns = (double) m->search->lower_ns;
    double upper_ns = (double) m->search->upper_path_ns;
    double asked =
        m->search->task->gap > 0 ? m->search->task->gap : DEFAULT_GAP;
    double enough_ns = (1 - hoped) * (1 - GAP_SHARE * asked) * upper_ns;

    if (upper_ns - lower_ns < NEAR_GAP * asked * upper_ns &&
        enough_ns > lower_ns)
        return (int64_t) enough_ns;
    return m->search->lower_ns +
           (m->search->upper_path_ns - m->search->lower_ns) / 2;
}

mo_status mo_search_bound_plan_next_jobs(mo_search_bound_plan *m,
                                         bool take_time, double hoped,
                                         mo_search_bound_job *jobs, int most,
                                         int *n, mo_error *err)
{
    int64_t upper_ns = m->search->upper_path_ns;
    int64_t lower_ns = m->search->lower_ns;
    mo_status status;

    *n = 0;
    status = plan_load_bounds(m, jobs, most, n, err);
    if (status != MO_OK || *n > 0 || !take_time || upper_ns <= lower_ns)
        return status;
    continue_jobs(m, jobs, most, n);
    if (*n == most)
        return MO_OK;
    do {
        status = mo_search_bound_targets_raise_paths(
            &m->targets, choose_goal(m, hoped), err);
        if (status == MO_OK)
            status = plan_target_jobs(m, jobs, most, n, err);
    } while (status == MO_OK && *n == 0 &&
             mo_search_bound_targets_raise_effort(&m->targets));
    return status;
}

void mo_search_bound_plan_merge_result(mo_search_bound_plan *m,
                                       mo_search_bound_job *it)
{
    int64_t *lower_ns = &m->blocks->blocks[it->block].lower_ns[it->boundary];
    mo_search_bound_target *a =
        mo_search_bound_target_at(&m->targets, it->block, it->boundary);

    if (it->ladder) {
        m->interrupted[m->n_interrupted++] = *it;
        return;
    }
    if (it->how == MO_SEARCH_BOUND_LOAD)
        a->effort = COLGEN_FIRST_EFFORT;
    else if (it->failed_ns < a->failed_ns)
        a->failed_ns = it->failed_ns;
    if (it->lower_ns > *lower_ns)
        *lower_ns = it->lower_ns;
    if (it->hint.device)
        mo_chain_blocks_set_hint(m->blocks, it->block, it->boundary, it->hint);
    it->hint = (mo_decomp_solution_hint){ 0 };
}
