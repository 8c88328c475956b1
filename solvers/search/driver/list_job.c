/* SPDX-License-Identifier: Apache-2.0 */
/*
 * List schedules of segments as a job of the search, in the opening round: one
 * item for every class and boundary, or, where that would take long, for those
 * boundaries whose devices are equal.
 */
#include <stdlib.h>

#include "base/array.h"
#include "solvers/search/driver/job.h"
#include "solvers/search/driver/primal_job.h"

typedef struct list_job {
    mo_search_state *search;
    mo_search_primal_job *items;
    size_t n, room;
} list_job;

static mo_status open_job(mo_search_state *s, void **self, mo_error *err)
{
    list_job *m = calloc(1, sizeof *m);

    if (!m)
        return mo_fail_memory(err);
    m->search = s;
    *self = m;
    return MO_OK;
}

static void close_job(void *self)
{
    list_job *m = self;

    for (size_t i = 0; i < m->n; i++)
        mo_search_primal_job_clear(&m->items[i]);
    free(m->items);
    free(m);
}

/* Adds items, all or for equal devices only; returns their work. */
static mo_status add_items(list_job *m, bool only_equal, int64_t *work,
                           mo_error *err)
{
    const mo_decomp_classes *classes = m->search->classes;
    int n_states = classes->states->n;
    mo_status status = MO_OK;

    *work = 0;
    for (int i = 0; i < classes->n && status == MO_OK; i++)
        for (int p = 0; p < n_states * n_states && status == MO_OK; p++) {
            if (!classes->classes[i].part ||
                classes->classes[i].lower_ns[p] == INT64_MAX ||
                (only_equal && p / n_states != p % n_states))
                continue;
            status = MO_ARRAY_GROW(m->items, m->n, m->room, err);
            if (status != MO_OK)
                return status;
            m->items[m->n] = (mo_search_primal_job){
                .cls = i, .boundary = p, .how = MO_SEARCH_PRIMAL_LIST
            };
            *work += mo_search_primal_job_work(classes, &m->items[m->n++]);
        }
    return status;
}

static mo_status plan_job(void *self, const mo_search_grant *grant, int *n,
                          mo_error *err)
{
    list_job *m = self;
    int64_t work = 0;
    mo_status status = MO_OK;

    if (m->room > 0) /* has run */
        return MO_OK;
    status = add_items(m, false, &work, err);
    if (status == MO_OK && work > grant->work) {
        m->n = 0;
        status = add_items(m, true, &work, err);
    }
    *n = (int) m->n;
    return status;
}

static mo_status run_job(void *self, int item, const mo_stop *stop,
                         mo_error *err)
{
    list_job *m = self;

    return mo_search_primal_job_run(m->search->classes, &m->items[item], stop,
                                    err);
}

static mo_status merge_job(void *self, const mo_stop *stop, mo_error *err)
{
    list_job *m = self;
    mo_status status = mo_search_primal_jobs_merge(
        m->search, m->items, m->n, "list scheduling of segments", err);

    (void) stop;
    m->n = 0;
    return status;
}

const mo_search_job mo_search_job_list = {
    .name = "list schedules of segments",
    .ablation = MO_ABLATION_job_list,
    .weight = 1,
    .on_segments = true,
    .opens = true,
    .open = open_job,
    .close = close_job,
    .plan = plan_job,
    .run = run_job,
    .merge = merge_job,
};
