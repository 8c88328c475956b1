/* SPDX-License-Identifier: Apache-2.0 */
#include "solvers/search/driver/anneal_pool.h"

#include "base/random.h"
#include "solvers/search/primal/anneal.h"

enum {
    FIRST_WORK = 10000000, /* ops x moves of a run: half a second */
    LAST_WORK = 400000000,
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

/* The shortest first; of equal ones the order stays. */
static void sort_schedules(mo_search_anneal_pool *m)
{
    for (int i = 1; i < m->n; i++)
        for (int j = i; j > 0 && m->schedules[j]->makespan_ns <
                                     m->schedules[j - 1]->makespan_ns;
             j--) {
            mo_schedule *s = m->schedules[j];

            m->schedules[j] = m->schedules[j - 1];
            m->schedules[j - 1] = s;
        }
}

/* After PASSES the worse half is dropped; the last one begins a new cycle of
 * longer runs. */
static mo_status end_pass(mo_search_anneal_pool *m, const mo_instance *x,
                          mo_error *err)
{
    int n_left = m->n / 2;

    sort_schedules(m);
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
