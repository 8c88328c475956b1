/* SPDX-License-Identifier: Apache-2.0 */
#include "solvers/search/driver/bound_plan_internal.h"

#include <stdlib.h>
#include <string.h>

enum {
    FAST_WORK =
        20000,   /* ops by boundaries, to be looked at the fast way at once */
    STEPS = 1200 /* of a proof in a round: about as long as an attempt */
};

#define ENOUGH 0.02 /* a gap, where nobody asks for another */
#define CLOSE  4    /* times that */
#define SPARE  0.85 /* of it: proofs of a little more take as long */

static int longest_chain(const mo_chain_blocks *blocks)
{
    int most = 0;

    for (int i = 0; i < blocks->classes->n; i++)
        if (blocks->chained[i].chain && blocks->chained[i].chain->n > most)
            most = blocks->chained[i].chain->n;
    return most;
}

static mo_status reserve_tables(mo_search_bound_plan *m, mo_error *err)
{
    size_t size = (size_t) m->n_boundaries * sizeof(int64_t);

    for (int i = 0; i < m->blocks->n; i++) {
        m->raised_ns[i] = malloc(size);
        if (!m->raised_ns[i])
            return mo_fail_memory(err);
    }
    for (int i = 0; i < m->search->classes->n; i++) {
        if (!m->search->classes->classes[i].part)
            continue;
        m->times_ns[i] = malloc(size);
        if (!m->times_ns[i])
            return mo_fail_memory(err);
    }
    for (int i = 0; i < m->blocks->n; i++)
        for (int p = 0; p < m->n_boundaries; p++)
            *aim_of(m, i, p) =
                (mo_search_bound_target){ .failed_ns = INT64_MAX,
                                          .effort = is_small(m, i) };
    return MO_OK;
}

static mo_status reserve(mo_search_bound_plan *m, mo_error *err)
{
    size_t n = (size_t) m->blocks->n + 1,
           n_boundaries = (size_t) m->n_boundaries;
    size_t n_classes = (size_t) m->search->classes->n;

    m->forks = calloc(n, sizeof *m->forks);
    m->aims = calloc(n, n_boundaries * sizeof *m->aims);
    m->raised_ns = calloc(n, sizeof *m->raised_ns);
    m->times_ns = calloc(n_classes, sizeof *m->times_ns);
    m->uses = calloc(n_classes, n_boundaries * sizeof *m->uses);
    m->boundaries =
        calloc((size_t) longest_chain(m->blocks) + 1, sizeof *m->boundaries);
    if (!m->forks || !m->aims || !m->raised_ns || !m->times_ns || !m->uses ||
        !m->boundaries)
        return mo_fail_memory(err);
    return reserve_tables(m, err);
}

mo_status mo_search_bound_plan_new(mo_search_state *search,
                                   mo_search_bound_plan **prover, mo_error *err)
{
    mo_search_bound_plan *m = calloc(1, sizeof *m);
    mo_status status;

    if (!m)
        return mo_fail_memory(err);
    m->search = search;
    m->blocks = search->blocks;
    m->n_boundaries = search->x->n_devices * search->x->n_devices;
    status = reserve(m, err);
    if (status == MO_OK)
        *prover = m;
    else
        mo_search_bound_plan_free(m);
    return status;
}

void mo_search_bound_plan_free(mo_search_bound_plan *m)
{
    if (!m)
        return;
    for (int i = 0; i < m->blocks->n; i++) {
        if (m->forks)
            mo_forkjoin_free(m->forks[i]);
        if (m->raised_ns)
            free(m->raised_ns[i]);
    }
    for (int i = 0; i < m->search->classes->n && m->times_ns; i++)
        free(m->times_ns[i]);
    free(m->forks);
    free(m->aims);
    free(m->raised_ns);
    free(m->times_ns);
    free(m->uses);
    free(m->boundaries);
    for (int i = 0; i < m->n_going; i++)
        mo_search_bound_job_clear(&m->going[i]);
    free(m);
}

/* Aims that no longer may be raised with the effort so far and lie on the path
 * get more of it, and all targets are open again. */
static bool try_harder(mo_search_bound_plan *m)
{
    bool any = false;

    for (int i = 0; i < m->blocks->n; i++)
        for (int p = 0; p < m->n_boundaries; p++) {
            const mo_chain_block *b = &m->blocks->blocks[i];
            mo_search_bound_target *it = aim_of(m, i, p);

            if (it->uses == 0 || it->failed_ns == INT64_MAX ||
                it->effort > most_effort(m, i) ||
                b->lower_ns[p] >= b->seen_ns[p])
                continue;
            it->effort++;
            it->failed_ns = INT64_MAX;
            any = true;
        }
    return any;
}

static mo_status find_fork(mo_search_bound_plan *m, int block, mo_error *err)
{
    const mo_chain_block *b = &m->blocks->blocks[block];

    if (m->forks[block])
        return MO_OK;
    return mo_forkjoin_find(&m->blocks->chained[b->cls].places, b->segment,
                            &m->forks[block], err);
}

static mo_status add(mo_search_bound_plan *m, int block, int boundary,
                     mo_search_bound_algo how, mo_search_bound_job *proof,
                     mo_error *err)
{
    mo_status status = find_fork(m, block, err);

    *proof =
        (mo_search_bound_job){ .block = block,
                               .boundary = boundary,
                               .how = how,
                               .target_ns = m->raised_ns[block][boundary],
                               .effort = aim_of(m, block, boundary)->effort,
                               .steps = STEPS,
                               .fork = m->forks[block],
                               .failed_ns = INT64_MAX };
    return status;
}

static bool needs_fast(const mo_search_bound_plan *m, int block, int boundary)
{
    const mo_chain_block *b = &m->blocks->blocks[block];

    return aim_of(m, block, boundary)->effort == 0 &&
           b->lower_ns[boundary] != INT64_MAX;
}

/* What is on the path and was not even looked at the fast way. */
static mo_status plan_fast(mo_search_bound_plan *m, mo_search_bound_job *proofs,
                           int most, int *n, mo_error *err)
{
    mo_status status;

    mo_search_bound_plan_reset(m);
    mo_decomp_path_shortest(m->search->path);
    status = mo_search_bound_plan_count_path(m, err);
    for (int i = 0; i < m->blocks->n; i++)
        for (int p = 0; p < m->n_boundaries && *n < most && status == MO_OK;
             p++)
            if (aim_of(m, i, p)->uses > 0 && needs_fast(m, i, p))
                status =
                    add(m, i, p, MO_SEARCH_BOUND_LOAD, &proofs[(*n)++], err);
    return status;
}

mo_status mo_search_bound_plan_initial_jobs(mo_search_bound_plan *m,
                                            mo_search_bound_job **proofs,
                                            int *n, mo_error *err)
{
    int64_t count = 0;
    mo_status status = MO_OK;

    *n = 0;
    *proofs = NULL;
    for (int i = 0; i < m->blocks->n; i++)
        for (int p = 0; p < m->n_boundaries; p++)
            count += needs_fast(m, i, p) ? m->blocks->blocks[i].segment->n : 0;
    if (count > FAST_WORK)
        return MO_OK;
    *proofs = calloc((size_t) count + 1, sizeof **proofs);
    if (!*proofs)
        return mo_fail_memory(err);
    mo_search_bound_plan_reset(m);
    for (int i = 0; i < m->blocks->n; i++)
        for (int p = 0; p < m->n_boundaries && status == MO_OK; p++)
            if (needs_fast(m, i, p))
                status =
                    add(m, i, p, MO_SEARCH_BOUND_LOAD, &(*proofs)[(*n)++], err);
    return status;
}

/* What it aims at has been proven by now, or seen to be wrong. */
static bool is_vain(const mo_search_bound_plan *m,
                    const mo_search_bound_job *it)
{
    const mo_chain_block *b = &m->blocks->blocks[it->block];

    return b->lower_ns[it->boundary] >= it->target_ns ||
           b->seen_ns[it->boundary] < it->target_ns;
}

static void go_on(mo_search_bound_plan *m, mo_search_bound_job *proofs,
                  int most, int *n)
{
    int left = 0;

    for (int i = 0; i < m->n_going; i++) {
        mo_search_bound_job *it = &m->going[i];

        if (is_vain(m, it))
            mo_search_bound_job_clear(it);
        else if (*n < most)
            proofs[(*n)++] = *it;
        else
            m->going[left++] = *it;
    }
    m->n_going = left;
}

static bool is_under_way(const mo_search_bound_job *proofs, int n, int block,
                         int boundary)
{
    for (int i = 0; i < n; i++)
        if (proofs[i].block == block && proofs[i].boundary == boundary)
            return true;
    return false;
}

/* Those that were raised first are on the shortest paths. */
static mo_status plan_targets(mo_search_bound_plan *m,
                              mo_search_bound_job *proofs, int most, int *n,
                              mo_error *err)
{
    mo_status status = MO_OK;
    int n_before = *n;

    for (int turn = 1; turn <= mo_search_bound_plan_max_paths(m) && *n < most;
         turn++)
        for (int i = 0; i < m->blocks->n; i++)
            for (int p = 0; p < m->n_boundaries && *n < most && status == MO_OK;
                 p++)
                if (aim_of(m, i, p)->turn == turn &&
                    !is_under_way(proofs, n_before, i, p))
                    status = add(m, i, p,
                                 is_small(m, i) ? MO_SEARCH_BOUND_EXACT
                                                : MO_SEARCH_BOUND_COLGEN,
                                 &proofs[(*n)++], err);
    return status;
}

/* Halfway to the makespan; but where enough is close, by what the makespan is
 * hoped to become, that much at once: proofs of little take as long as proofs
 * of much. */
static int64_t goal_of(const mo_search_bound_plan *m, double hoped)
{
    double lower_ns = (double) m->search->lower_ns;
    double upper_ns = (double) m->search->upper_path_ns;
    double asked = m->search->task->gap > 0 ? m->search->task->gap : ENOUGH;
    double enough_ns = (1 - hoped) * (1 - SPARE * asked) * upper_ns;

    if (upper_ns - lower_ns < CLOSE * asked * upper_ns && enough_ns > lower_ns)
        return (int64_t) enough_ns;
    return m->search->lower_ns +
           (m->search->upper_path_ns - m->search->lower_ns) / 2;
}

mo_status mo_search_bound_plan_next_jobs(mo_search_bound_plan *m,
                                         bool take_time, double hoped,
                                         mo_search_bound_job *proofs, int most,
                                         int *n, mo_error *err)
{
    int64_t upper_ns = m->search->upper_path_ns;
    int64_t lower_ns = m->search->lower_ns;
    mo_status status;

    *n = 0;
    status = plan_fast(m, proofs, most, n, err);
    if (status != MO_OK || *n > 0 || !take_time || upper_ns <= lower_ns)
        return status;
    go_on(m, proofs, most, n);
    if (*n == most)
        return MO_OK;
    do {
        status = mo_search_bound_plan_raise_paths(m, goal_of(m, hoped), err);
        if (status == MO_OK)
            status = plan_targets(m, proofs, most, n, err);
    } while (status == MO_OK && *n == 0 && try_harder(m));
    return status;
}

void mo_search_bound_plan_merge_result(mo_search_bound_plan *m,
                                       mo_search_bound_job *it)
{
    int64_t *lower_ns = &m->blocks->blocks[it->block].lower_ns[it->boundary];
    mo_search_bound_target *a = aim_of(m, it->block, it->boundary);

    if (it->climb) {
        m->going[m->n_going++] = *it;
        return;
    }
    if (it->how == MO_SEARCH_BOUND_LOAD)
        a->effort = MO_SEARCH_BOUND_COLGEN_EFFORT;
    else if (it->failed_ns < a->failed_ns)
        a->failed_ns = it->failed_ns;
    if (it->lower_ns > *lower_ns)
        *lower_ns = it->lower_ns;
    if (it->hint.device)
        mo_chain_blocks_set_hint(m->blocks, it->block, it->boundary, it->hint);
    it->hint = (mo_decomp_solution_hint){ 0 };
}
