/* SPDX-License-Identifier: Apache-2.0 */
#include "solvers/search/period/in_flight_search.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/minmax.h"
#include "schedule/period/loads.h"
#include "schedule/period/modulo_schedule.h"
#include "solvers/search/period/contiguous.h"

enum {
    LATENCY_ROUNDS = 4,              /* of the search for the least latency */
    MAX_EFFORT = 1 << 21,            /* moves times the square of the ops */
    MAX_ENUMERATED_EFFORT = 1 << 16, /* pipelines of placements, likewise */
    PIPELINE_WORK = 300000 /* units of counted work, by the square of the ops */
};

mo_status mo_period_in_flight_init(mo_period_in_flight *l,
                                   const mo_method_task *task,
                                   const mo_period_problem *problem,
                                   mo_error *err)
{
    *l = (mo_period_in_flight){ .task = task,
                                .problem = problem,
                                .period_ns = INT64_MAX };
    l->device = calloc((size_t) problem->x->n + 1, sizeof *l->device);
    l->used_bytes =
        calloc((size_t) problem->x->n_devices + 1, sizeof *l->used_bytes);
    return l->device && l->used_bytes ? MO_OK : mo_fail_memory(err);
}

void mo_period_in_flight_clear(mo_period_in_flight *l)
{
    free(l->device);
    mo_schedule_free(l->known);
    free(l->used_bytes);
    *l = (mo_period_in_flight){ 0 };
}

mo_status mo_period_in_flight_offer(mo_period_in_flight *l, const int *device,
                                    const mo_schedule *known, mo_error *err)
{
    const mo_period_problem *p = l->problem;
    mo_modulo_schedule m = { 0 };
    mo_schedule *copy = NULL;
    mo_status status;

    /* A pipeline of thousands of ops takes seconds: after the end of the time
     * none is made but the first. */
    if ((l->period_ns < INT64_MAX && mo_stop_reached(l->task->stop)) ||
        !mo_period_fits_memory(p->x, p->regime.memory, device, l->used_bytes))
        return MO_OK;
    status = mo_modulo_schedule_make(p->x, &p->regime, device,
                                     l->task->in_flight, known, &m, err);
    if (status == MO_OK && m.fits && m.period_ns < l->period_ns) {
        if (known)
            status = mo_schedule_copy(p->x, known, &copy, err);
        l->period_ns = m.period_ns;
        memcpy(l->device, device, (size_t) p->x->n * sizeof *device);
        mo_schedule_free(l->known);
        l->known = copy;
    }
    mo_modulo_schedule_clear(&m);
    return status;
}

mo_status mo_period_in_flight_place_shortest(const mo_method_task *period,
                                             mo_method_result *placed,
                                             mo_error *err)
{
    mo_method_task task = *period;
    double left_s = mo_stop_remaining_s(task.stop);
    mo_stop stop;

    mo_stop_after(&stop, isinf(left_s) ? 0 : mo_max_double(left_s / 3, 1e-6));
    stop.outer = period->stop;
    task.stop = &stop;
    task.objective = MO_OBJECTIVE_LATENCY;
    task.in_flight = 0;
    task.on_progress = NULL;
    task.proven = NULL; /* bounds between ops are those of a makespan */
    if (task.rounds == 0 || task.rounds > LATENCY_ROUNDS)
        task.rounds = LATENCY_ROUNDS;
    return mo_method_moirai.place(&task, placed, err);
}

/* Whether the times of a request are a schedule of it: in a pipeline, what
 * takes no time holds nothing and may be within another op or transfer, and so
 * it may with overheads and one request in flight. */
static bool is_bounded_by_latency(const mo_period_problem *p, int in_flight)
{
    const mo_instance *x = p->x;
    bool sends = p->regime.congestion != MO_CONGESTION_NONE;

    if (in_flight == 1 && !x->load.overhead_ns)
        return true;
    for (int i = 0; i < x->n; i++)
        for (int k = 0; k < x->n_devices; k++)
            if (mo_instance_p_ns(x, i, k) == 0)
                return false;
    for (int q = 0; q < x->n_flows && sends; q++)
        for (int a = 0; a < x->n_devices; a++)
            for (int b = 0; b < x->n_devices; b++)
                if (a != b && mo_schedule_flow_ns(x, &p->regime, q, a, b) == 0)
                    return false;
    return true;
}

static mo_status offer_shortest(mo_period_in_flight *l, int64_t *lower_ns,
                                mo_error *err)
{
    mo_method_result placed = { 0 };
    mo_status status =
        mo_period_in_flight_place_shortest(l->task, &placed, err);

    if (status == MO_OK && placed.schedule)
        status = mo_period_in_flight_offer(l, placed.schedule->device,
                                           placed.schedule, err);
    if (l->task->in_flight > 0 &&
        is_bounded_by_latency(l->problem, l->task->in_flight))
        *lower_ns = mo_max_i64(*lower_ns, placed.lower_ns / l->task->in_flight);
    mo_method_result_clear(&placed);
    return status;
}

mo_status mo_period_in_flight_offer_baselines(mo_period_in_flight *l,
                                              int64_t *lower_ns, mo_error *err)
{
    const mo_period_problem *p = l->problem;
    int *device = calloc((size_t) p->x->n + 1, sizeof *device);
    mo_status status = device ? MO_OK : mo_fail_memory(err);

    for (int k = 0;
         k < p->x->n_devices && status == MO_OK &&
         !(l->period_ns < INT64_MAX && mo_stop_reached(l->task->stop));
         k++) {
        mo_period_fill_single(p, k, device);
        status = mo_period_in_flight_offer(l, device, NULL, err);
    }
    if (status == MO_OK)
        status = mo_period_split_contiguous(p, device, err);
    if (status == MO_OK)
        status = mo_period_in_flight_offer(l, device, NULL, err);
    if (status == MO_OK)
        status = offer_shortest(l, lower_ns, err);
    free(device);
    return status;
}

int64_t mo_period_critical_path_ns(const mo_period_problem *p,
                                   const int *device, int64_t *ready_ns)
{
    const mo_instance *x = p->x;
    int64_t most_ns = 0;

    for (int i = 0; i < x->n; i++) {
        int64_t start_ns = 0;

        for (int e = x->in_start[i]; e < x->in_start[i + 1]; e++) {
            const mo_flow *flow = &x->flows[x->in_flows[e]];
            int a = device[flow->from], b = device[i];
            int64_t sent_ns =
                a == b
                    ? 0
                    : mo_schedule_flow_ns(x, &p->regime, x->in_flows[e], a, b);

            start_ns = mo_max_i64(start_ns, ready_ns[flow->from] + sent_ns);
        }
        ready_ns[i] = start_ns + mo_instance_p_ns(x, i, device[i]);
        most_ns = mo_max_i64(most_ns, ready_ns[i]);
    }
    return most_ns;
}

/* Returns how many pipelines may be made with the effort, and with the work of
 * the task. */
static int64_t max_pipelines(const mo_period_in_flight *l, int64_t effort)
{
    int64_t n = l->problem->x->n, square = mo_max_i64(n * n, 1);
    int64_t most = effort / square;

    return l->task->max_work > 0
               ? mo_min_i64(most, l->task->max_work / PIPELINE_WORK / square)
               : most;
}

mo_status mo_period_in_flight_enumerate(mo_period_in_flight *l,
                                        int64_t *lower_ns, mo_error *err)
{
    const mo_period_problem *p = l->problem;
    int in_flight = l->task->in_flight;
    int64_t *ready_ns = calloc((size_t) p->x->n + 1, sizeof *ready_ns);
    int64_t least_ns = INT64_MAX;
    int64_t left = max_pipelines(l, MAX_ENUMERATED_EFFORT);
    mo_period_state s = { 0 };
    mo_status status =
        ready_ns ? mo_period_state_init(&s, p, err) : mo_fail_memory(err);

    if (status == MO_OK) {
        memset(s.device, 0, (size_t) p->x->n * sizeof *s.device);
        mo_period_state_set(&s, s.device);
    }
    for (bool more = true; more && status == MO_OK;
         more = mo_period_state_next(&s)) {
        int64_t ns = mo_max_i64(mo_period_state_period_ns(&s), 1);

        if (mo_stop_reached(l->task->stop)) {
            least_ns = 0;
            break;
        }
        if (!mo_period_state_is_allowed(&s) ||
            mo_period_state_excess_bytes(&s) > 0)
            continue;
        if (in_flight > 0)
            ns = mo_max_i64(ns,
                            (mo_period_critical_path_ns(p, s.device, ready_ns) +
                             in_flight - 1) /
                                in_flight);
        least_ns = mo_min_i64(least_ns, ns);
        if (ns < l->period_ns && left-- > 0)
            status = mo_period_in_flight_offer(l, s.device, NULL, err);
    }
    if (least_ns < INT64_MAX)
        *lower_ns = mo_max_i64(*lower_ns, least_ns);
    mo_period_state_clear(&s);
    free(ready_ns);
    return status;
}

mo_status mo_period_in_flight_improve(mo_period_in_flight *l, mo_error *err)
{
    const mo_placement_units *u = l->problem->units;
    const mo_instance *x = l->problem->x;
    int *device = calloc((size_t) x->n + 1, sizeof *device);
    int64_t left = max_pipelines(l, MAX_EFFORT);
    mo_status status = device ? MO_OK : mo_fail_memory(err);
    int since = 0, n_moves = u->n * x->n_devices;

    /* All moves in turn, until none of a whole turn helps. */
    for (int move = 0;
         status == MO_OK && since < n_moves && left > 0 &&
         l->period_ns < INT64_MAX && !mo_stop_reached(l->task->stop);
         move = (move + 1) % n_moves, since++) {
        int unit = move / x->n_devices, k = move % x->n_devices;
        int64_t before_ns = l->period_ns;
        bool allowed = l->device[u->ops[u->start[unit]]] != k;

        memcpy(device, l->device, (size_t) x->n * sizeof *device);
        for (int i = u->start[unit]; i < u->start[unit + 1]; i++) {
            device[u->ops[i]] = k;
            allowed = allowed && mo_allowed_devices_has(&l->problem->domains,
                                                        u->ops[i], k);
        }
        if (!allowed)
            continue;
        left--;
        status = mo_period_in_flight_offer(l, device, NULL, err);
        if (l->period_ns < before_ns)
            since = -1;
    }
    free(device);
    return status;
}
