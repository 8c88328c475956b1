/* SPDX-License-Identifier: Apache-2.0 */
#include "solvers/search/driver/memory_repair.h"

#include <stdlib.h>

#include "base/random.h"
#include "solvers/search/decomp/compose.h"
#include "solvers/search/driver/job.h"
#include "solvers/search/primal/rcsp.h"

enum { MAX_RESERVES = 4 }; /* steps of the reserve for live tensors */

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

/* Counts the new variants of a combination by their makers, and as known from
 * then on.  Segments of one class share variants: those count once. */
static void count_makers(mo_search_state *s, const unsigned char *variants)
{
    for (int i = 0; i < s->segments->n; i++) {
        const mo_decomp_class *cls = &s->classes->classes[s->segments->cls[i]];
        int boundary = mo_decomp_path_boundary(s->path, i);
        mo_decomp_variant *v;

        if (!cls->part)
            continue;
        v = &cls->boundaries[boundary].variants[variants[i]];
        s->n_used[v->maker]++;
        v->maker = 0;
    }
}

/* Composes the shortest path within these capacities, if one is found. */
static mo_status compose_within(mo_search_state *s,
                                const int64_t *capacity_bytes, uint64_t seed,
                                unsigned char *variants, mo_error *err)
{
    mo_schedule *schedule = NULL;
    bool found = false;
    const mo_primal_rcsp problem = { .classes = s->classes,
                                     .capacity_bytes = capacity_bytes,
                                     .price_ns = s->classes->price_ns,
                                     .seed = seed,
                                     .threads = s->task->threads };
    mo_status status =
        mo_primal_rcsp_solve(&problem, s->path, variants, &found, err);

    if (status != MO_OK || !found)
        return status;
    status = mo_decomp_compose(s->classes, s->path, variants, &schedule, err);
    if (status == MO_OK && schedule->makespan_ns < mo_search_upper_ns(s))
        count_makers(s, variants);
    return status == MO_OK ? mo_search_submit_schedule(
                                 s, schedule, "segments within memory", err)
                           : status;
}

static mo_status merge_job(void *self, const mo_stop *stop, mo_error *err)
{
    mo_search_state *s = self;
    size_t n_devices = (size_t) s->x->n_devices;
    int64_t *room, *reserve;
    unsigned char *variants;
    mo_status status = MO_OK;

    s->has_composed = true;
    if (!mo_search_memory_repair_needed(s))
        return MO_OK;
    s->n_composed = s->n_merged;
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
            mo_stop_spend(stop, mo_primal_rcsp_work(s->classes));
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

static mo_status open_job(mo_search_state *s, void **self, mo_error *err)
{
    (void) err;
    *self = s->classes->keep_variants ? s : NULL;
    return MO_OK;
}

static void close_job(void *self)
{
    (void) self;
}

static mo_status plan_job(void *self, const mo_search_grant *grant, int *n,
                          mo_error *err)
{
    const mo_search_state *s = self;

    (void) err;
    *n = !s->has_composed ||
         (s->n_merged > s->n_composed && mo_search_memory_repair_needed(s) &&
          grant->fresh_work >= mo_primal_rcsp_work(s->classes));
    return MO_OK;
}

/* Composition needs the results of the round: merging does it, on all
 * threads. */
static mo_status run_job(void *self, int item, const mo_stop *stop,
                         mo_error *err)
{
    (void) self;
    (void) item;
    (void) stop;
    (void) err;
    return MO_OK;
}

const mo_search_job mo_search_job_compose = {
    .name = "composition within memory",
    .ablation = MO_ABLATION_job_compose,
    .opens = true,
    .composes = true,
    .open = open_job,
    .close = close_job,
    .plan = plan_job,
    .run = run_job,
    .merge = merge_job,
};
