/* SPDX-License-Identifier: Apache-2.0 */
#include "solvers/search/driver/whole_anneal.h"

#include <stdlib.h>

#include "base/minmax.h"
#include "base/random.h"
#include "solvers/search/driver/job.h"
#include "solvers/search/primal/anneal.h"

enum {
    FIRST_WORK = 10000000, /* ops x moves of a run: half a second */
    LAST_WORK = 400000000,
    MAX_IDLE = 24, /* rounds in a row that gain nothing: then it ends */
    PASSES = 2 /* until the worse half is dropped: within memory, and beyond */
};

#define GROWTH 1.6 /* of the moves of a run from cycle to cycle */

/* Temperatures, as parts of the mean time of an op: lower ones than those of
 * segments, since there are more runs from the best schedule. */
#define HOT_OF_OP  0.18
#define COLD_OF_OP 0.06

void mo_search_anneal_pool_clear(mo_search_anneal_pool *m)
{
    while (m->n > 0)
        mo_schedule_free(m->schedules[--m->n]);
}

/* Fills the pool with copies of the schedule. */
static mo_status begin_cycle(mo_search_anneal_pool *m, const mo_instance *x,
                             const mo_schedule *from, mo_error *err)
{
    mo_status status = MO_OK;

    m->next = m->n_passes = 0;
    while (m->n < MO_SEARCH_ANNEAL_POOL_SIZE && status == MO_OK) {
        status = mo_schedule_copy(x, from, &m->schedules[m->n], err);
        m->n += status == MO_OK;
    }
    return status;
}

/* After PASSES the worse half is dropped; the last one begins a new cycle of
 * longer runs. */
static mo_status end_pass(mo_search_anneal_pool *m, const mo_instance *x,
                          mo_error *err)
{
    int n_left = m->n / 2;

    /* The shortest first; of equal ones the order stays. */
    for (int i = 1; i < m->n; i++)
        for (int j = i; j > 0 && m->schedules[j]->makespan_ns <
                                     m->schedules[j - 1]->makespan_ns;
             j--) {
            mo_schedule *s = m->schedules[j];

            m->schedules[j] = m->schedules[j - 1];
            m->schedules[j - 1] = s;
        }
    m->next = 0;
    if (++m->n_passes % PASSES != 0)
        return MO_OK;
    while (m->n > 1 && m->n > n_left)
        mo_schedule_free(m->schedules[--m->n]);
    if (n_left > 0)
        return MO_OK;
    if ((double) m->moves * GROWTH * x->n <= LAST_WORK)
        m->moves = (int64_t) ((double) m->moves * GROWTH);
    return begin_cycle(m, x, m->schedules[0], err);
}

static mo_status run_next(mo_search_anneal_pool *m, const mo_search_state *s,
                          const mo_stop *stop, mo_error *err)
{
    mo_schedule **schedule = &m->schedules[m->next];
    double op_part = 1.0 / (s->x->n + 1);
    mo_primal_anneal_options options = { .seed = mo_random_seed(s->task->seed,
                                                                m->n_runs++),
                                         .moves = m->moves,
                                         .hot = HOT_OF_OP * op_part,
                                         .cold = COLD_OF_OP * op_part,
                                         .enough_ns = s->lower_ns,
                                         .oscillate = m->n_passes % PASSES == 1,
                                         .eject = true,
                                         .stop = stop };
    mo_primal_anneal_result annealed = { 0 };
    mo_status status =
        mo_primal_anneal(s->x, &s->regime, *schedule, &options, &annealed, err);

    if (status != MO_OK)
        return status;
    mo_schedule_free(*schedule);
    *schedule = annealed.schedule;
    return ++m->next < m->n ? MO_OK : end_pass(m, s->x, err);
}

/* Replaces the last by the incumbent where that is shorter than all. */
static mo_status take_incumbent(mo_search_anneal_pool *m,
                                const mo_search_state *s, mo_error *err)
{
    mo_schedule *copy = NULL;
    mo_status status = MO_OK;

    for (int i = 0; i < m->n; i++)
        if (m->schedules[i]->makespan_ns <= s->best->makespan_ns)
            return MO_OK;
    status = mo_schedule_copy(s->x, s->best, &copy, err);
    if (status != MO_OK)
        return status;
    mo_schedule_free(m->schedules[m->n - 1]);
    m->schedules[m->n - 1] = copy;
    return MO_OK;
}

static const mo_schedule *shortest_of(const mo_search_anneal_pool *m)
{
    const mo_schedule *best = m->schedules[0];

    for (int i = 1; i < m->n; i++)
        if (m->schedules[i]->makespan_ns < best->makespan_ns)
            best = m->schedules[i];
    return best;
}

mo_status mo_search_anneal_pool_run(mo_search_anneal_pool *m,
                                    const mo_search_state *s, int64_t moves,
                                    const mo_stop *stop, mo_schedule **best,
                                    mo_error *err)
{
    mo_status status = m->n == 0 ? begin_cycle(m, s->x, s->best, err)
                                 : take_incumbent(m, s, err);

    if (m->moves == 0)
        m->moves = FIRST_WORK / s->x->n + 1;
    for (int64_t made = 0;
         status == MO_OK && made < moves &&
         (made == 0 || (!mo_stop_reached(stop) &&
                        shortest_of(m)->makespan_ns > s->lower_ns));
         made += m->moves)
        status = run_next(m, s, stop, err);
    return status == MO_OK ? mo_schedule_copy(s->x, shortest_of(m), best, err)
                           : status;
}

typedef struct whole_anneal {
    mo_search_state *search;
    mo_search_anneal_pool pool;
    int64_t moves;         /* of the round */
    mo_schedule *schedule; /* its result, or NULL */
    int n_idle;            /* rounds in a row without a shorter one */
} whole_anneal;

/* Without memory limits segments are annealed for themselves. */
static mo_status open_job(mo_search_state *s, void **self, mo_error *err)
{
    whole_anneal *m;

    if (!s->memory_matters || s->x->n == 0)
        return MO_OK;
    m = calloc(1, sizeof *m);
    if (!m)
        return mo_fail_memory(err);
    m->search = s;
    *self = m;
    return MO_OK;
}

static void close_job(void *self)
{
    whole_anneal *m = self;

    mo_search_anneal_pool_clear(&m->pool);
    mo_schedule_free(m->schedule);
    free(m);
}

static mo_status plan_job(void *self, const mo_search_grant *grant, int *n,
                          mo_error *err)
{
    whole_anneal *m = self;

    (void) err;
    m->moves = grant->work / mo_primal_anneal_move_work(m->search->x->n);
    *n = m->search->best && m->n_idle < MAX_IDLE &&
         m->moves >= FIRST_WORK / m->search->x->n + 1;
    return MO_OK;
}

static mo_status run_job(void *self, int item, const mo_stop *stop,
                         mo_error *err)
{
    whole_anneal *m = self;

    (void) item;
    if (mo_stop_reached(stop))
        return MO_OK;
    return mo_search_anneal_pool_run(&m->pool, m->search, m->moves, stop,
                                     &m->schedule, err);
}

static mo_status merge_job(void *self, const mo_stop *stop, mo_error *err)
{
    whole_anneal *m = self;
    mo_schedule *schedule = m->schedule;
    int64_t before_ns = mo_search_upper_ns(m->search);
    mo_status status;

    (void) stop;
    m->schedule = NULL;
    status = mo_search_submit_schedule(m->search, schedule,
                                       "annealing the full instance", err);
    m->n_idle = mo_search_upper_ns(m->search) < before_ns ? 0 : m->n_idle + 1;
    return status;
}

const mo_search_job mo_search_job_whole_anneal = {
    .name = "annealing of the full instance",
    .ablation = MO_ABLATION_job_whole_anneal,
    .weight = 1,
    .open = open_job,
    .close = close_job,
    .plan = plan_job,
    .run = run_job,
    .merge = merge_job,
};
