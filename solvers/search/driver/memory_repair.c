/* SPDX-License-Identifier: Apache-2.0 */
#include "solvers/search/driver/memory_repair.h"

#include <stdlib.h>
#include <string.h>

#include "base/minmax.h"
#include "base/random.h"
#include "solvers/search/decomp/compose.h"
#include "solvers/search/primal/anneal.h"
#include "solvers/search/primal/rcsp.h"

enum {
    MAX_OPS = 20000,       /* more are not annealed as a whole */
    FEW_OPS = 1000,        /* at most so many are where the gap is large */
    MAX_ROUNDS = 24,       /* then no more memory jobs are planned */
    FIRST_WORK = 10000000, /* ops x moves: half a second */
    LAST_WORK = 400000000,
    LARGE_GAP_FACTOR = 3, /* on the work of few ops */
    SMALL_SHARE = 8,      /* of segments that are small parts of the whole */
    RARE_ROUND = 4,       /* of these, one in so many rounds */
    MAX_RESERVES = 4      /* steps of the reserve for live tensors */
};

#define LARGE_GAP 0.05
#define GROWTH    1.6 /* of the work from round to round */

bool mo_search_memory_repair_needed(const mo_search_state *s)
{
    return s->memory_matters && s->upper_path_ns < mo_search_upper_ns(s);
}

/* Raises reserve to the peak beyond the resident bytes over the variants of a
 * boundary. */
static mo_status raise_reserve(const mo_search_state *s,
                               const mo_decomp_class *cls,
                               const mo_decomp_boundary *boundary,
                               int64_t *peak_bytes, int64_t *reserve,
                               mo_error *err)
{
    mo_status status = MO_OK;

    for (int v = 0; v < s->classes->n_variants && boundary->variants; v++) {
        const mo_decomp_variant *variant = &boundary->variants[v];

        if (!variant->schedule)
            continue;
        status = mo_schedule_peak_memory(cls->part->x, variant->schedule,
                                         peak_bytes, err);
        for (int k = 0; k < s->x->n_devices && status == MO_OK; k++)
            if (peak_bytes[k] - variant->bytes[k] > reserve[k])
                reserve[k] = peak_bytes[k] - variant->bytes[k];
    }
    return status;
}

static mo_status find_reserve(const mo_search_state *s, int64_t *reserve,
                              mo_error *err)
{
    int n_boundaries = s->states.n * s->states.n;
    int64_t *peak_bytes = calloc((size_t) s->x->n_devices, sizeof *peak_bytes);
    mo_status status = peak_bytes ? MO_OK : mo_fail_memory(err);

    for (int i = 0; i < s->classes->n; i++) {
        const mo_decomp_class *cls = &s->classes->classes[i];

        for (int p = 0; cls->part && p < n_boundaries && status == MO_OK; p++)
            status = raise_reserve(s, cls, &cls->boundaries[p], peak_bytes,
                                   reserve, err);
    }
    free(peak_bytes);
    return status;
}

/* Composes the shortest path within these capacities, if one is found. */
static mo_status compose_within(mo_search_state *s,
                                const int64_t *capacity_bytes, uint64_t seed,
                                unsigned char *variants, mo_error *err)
{
    mo_schedule *schedule = NULL;
    bool found = false;
    mo_status status = mo_primal_rcsp_solve(
        s->classes, capacity_bytes, seed, s->task->threads,
        s->classes->price_ns, s->path, variants, &found, err);

    if (status != MO_OK || !found)
        return status;
    status = mo_decomp_compose(s->classes, s->path, variants, &schedule, err);
    return status == MO_OK ? mo_search_submit_schedule(
                                 s, schedule, "segments within memory", err)
                           : status;
}

mo_status mo_search_memory_repair_by_variants(mo_search_state *s, mo_error *err)
{
    size_t n_devices = (size_t) s->x->n_devices;
    int64_t *room, *reserve;
    unsigned char *variants;
    mo_status status = MO_OK;

    if (!s->classes->keep_variants)
        return MO_OK;
    variants = calloc((size_t) s->segments->n, sizeof *variants);
    room = calloc(n_devices, sizeof *room);
    reserve = calloc(n_devices, sizeof *reserve);
    if (!variants || !room || !reserve)
        status = mo_fail_memory(err);
    if (status == MO_OK && s->regime.memory == MO_MEMORY_LIVE)
        status = find_reserve(s, reserve, err);
    if (status == MO_OK) {
        int most = s->regime.memory == MO_MEMORY_LIVE ? MAX_RESERVES : 0;

        /* The peak of live tensors is known only afterwards: tries several
         * reserves. */
        for (int part = 0; part <= most && status == MO_OK; part++) {
            for (int k = 0; k < s->x->n_devices; k++)
                room[k] = s->x->capacity_bytes[k] -
                          (most > 0 ? reserve[k] / most * part : 0);
            status = compose_within(
                s, room, mo_random_seed(s->task->seed, s->n_repairs++),
                variants, err);
        }
    }
    free(variants);
    free(room);
    free(reserve);
    return status;
}

/* Where the gap is large, segments do not lead on: the best of them exceed
 * memory together. */
static bool is_gap_large(const mo_search_state *s)
{
    return s->memory_matters && s->segments->n > 1 &&
           (double) s->lower_ns <
               (1 - LARGE_GAP) * (double) mo_search_upper_ns(s);
}

/* Returns whether segments are small parts of the whole: then their own
 * annealing reaches more than that of the whole does in the same time. */
static bool has_small_segments(const mo_search_state *s)
{
    int most = 0;

    for (int i = 0; i < s->classes->n; i++)
        most = mo_max_int(most, s->classes->classes[i].n);
    return s->classes->keep_variants && most <= s->x->n / SMALL_SHARE;
}

bool mo_search_memory_job_plan(const mo_search_state *s, int round,
                               mo_search_anneal_pool *pool,
                               mo_search_memory_job *job)
{
    bool is_large = is_gap_large(s) && s->x->n <= FEW_OPS;
    bool rarely = has_small_segments(s) && !is_large;
    double work = is_large ? LARGE_GAP_FACTOR * FIRST_WORK : FIRST_WORK;

    if (!s->best || s->x->n > MAX_OPS || round >= MAX_ROUNDS ||
        !(mo_search_memory_repair_needed(s) || is_gap_large(s)) ||
        (rarely && round % RARE_ROUND != 0))
        return false;
    for (int i = 0; i < round && work < LAST_WORK && !rarely; i++)
        work *= GROWTH;
    if (s->task->effort > 0)
        work *= s->task->effort;
    job->pool = rarely ? NULL : pool;
    job->moves = (int64_t) work / s->x->n;
    job->seed = mo_random_seed(s->task->seed, (uint64_t) round);
    return true;
}

void mo_search_memory_job_run(const mo_search_state *s,
                              mo_search_memory_job *job)
{
    mo_primal_anneal_options options = { .seed = job->seed,
                                         .moves = job->moves,
                                         .enough_ns = s->lower_ns,
                                         .stop = job->stop };
    mo_primal_anneal_result annealed = { 0 };

    if (job->pool) {
        job->status = mo_search_anneal_pool_run(
            job->pool, s, job->moves, job->stop, &job->schedule, &job->err);
        return;
    }
    job->status = mo_primal_anneal(s->x, &s->regime, s->best, &options,
                                   &annealed, &job->err);
    job->schedule = annealed.schedule;
}
