/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "driver/place/compare_methods.h"

#include <stdio.h>
#include <string.h>

#include "driver/search_progress.h"
#include "schedule/period/loads.h"
#include "schedule/period/modulo_schedule.h"
#include "schedule/validate/validate.h"
#include "solvers/process/interrupt.h"
#include "solvers/search/replan/replan.h"

enum { MOST_OPS_OF_PIPELINE = 2000 };

static double memory_fullness(const mo_instance *x, const int64_t *peak_bytes,
                              int k)
{
    if (peak_bytes[k] == 0)
        return 0;
    return (double) peak_bytes[k] / (double) x->capacity_bytes[k];
}

/* Exceeded memory is reported in the table; any other violation is a defect of
 * the method. */
static void look_at_violations(const mo_verdict *verdict, mo_place_result *e)
{
    mo_method_result *placed = &e->placed;

    e->row.fits = true;
    for (int i = 0; i < verdict->n; i++) {
        if (verdict->violations[i].rule == MO_VIOLATION_MEMORY) {
            e->row.fits = false;
            continue;
        }
        snprintf(placed->why, sizeof placed->why, "breaks a rule: %s",
                 verdict->violations[i].text);
        e->row.why = placed->why;
        return;
    }
}

/* The device whose memory is fullest, among those with a capacity. */
static void find_fullest(const mo_instance *x, const int64_t *peak_bytes,
                         mo_place_result *e)
{
    e->row.fullest = MO_FREE;
    for (int k = 0; k < x->n_devices; k++) {
        if (x->capacity_bytes[k] == INT64_MAX ||
            (e->row.fullest != MO_FREE &&
             memory_fullness(x, peak_bytes, k) <=
                 memory_fullness(x, peak_bytes, e->row.fullest)))
            continue;
        e->row.fullest = k;
        e->row.peak_bytes = peak_bytes[k];
    }
}

/* Re-planning is to be fast: it leaves out the pipeline of a large network,
 * where the period does not depend on it. */
static bool needs_pipeline(const mo_place_context *setting,
                           const mo_instance *x, const mo_method *method)
{
    return method != &mo_method_replan || x->n <= MOST_OPS_OF_PIPELINE ||
           setting->in_flight > 0 || setting->regime.memory == MO_MEMORY_LIVE;
}

/* With the objective period, the row has the period of the placement and the
 * latency of a request in its pipeline instead of the makespan. */
static mo_status evaluate_period(const mo_place_context *setting,
                                 const mo_instance *x, mo_place_result *e,
                                 mo_error *err)
{
    mo_modulo_schedule m = { 0 };
    mo_period_loads loads = { 0 };
    const int *device = e->placed.schedule->device;
    mo_status status =
        mo_period_loads_compute(x, &setting->regime, device, &loads, err);

    if (status == MO_OK && needs_pipeline(setting, x, e->method))
        status = mo_modulo_schedule_make(x, &setting->regime, device,
                                         setting->in_flight, e->placed.schedule,
                                         &m, err);
    if (status == MO_OK && m.peak_bytes) {
        e->row.fits = m.fits;
        find_fullest(x, m.peak_bytes, e);
    }
    if (status == MO_OK) {
        e->row.makespan_ns = setting->in_flight > 0 || m.peak_bytes
                                 ? m.period_ns
                                 : loads.period_ns;
        e->row.steady_ns = m.request ? m.period_ns : loads.period_ns;
        e->row.latency_ns = m.request ? m.request->makespan_ns : 0;
        e->row.in_flight = m.in_flight;
        e->row.least_in_flight = m.least_in_flight;
        mo_period_resource_name(x, setting->regime.congestion, loads.bottleneck,
                                e->row.bottleneck, sizeof e->row.bottleneck);
    }
    mo_modulo_schedule_clear(&m);
    mo_period_loads_clear(&loads);
    return status;
}

/* There are at most as many memory violations as devices, so any other one is
 * in the list. */
static mo_status validate_placement(const mo_place_context *setting,
                                    const mo_instance *x, mo_place_result *e,
                                    mo_error *err)
{
    mo_verdict *verdict = NULL;
    mo_progress step;
    mo_status status;

    mo_driver_log_step(setting->logger, &step, "checking the placement");
    status =
        mo_validate(x, e->placed.schedule, x->n_devices + 1, &verdict, err);
    if (status == MO_OK) {
        look_at_violations(verdict, e);
        find_fullest(x, verdict->peak_bytes, e);
        e->row.makespan_ns = e->placed.schedule->makespan_ns;
        mo_verdict_free(verdict);
        if (setting->objective == MO_OBJECTIVE_PERIOD)
            status = evaluate_period(setting, x, e, err);
    }
    mo_progress_end(&step);
    return status;
}

static bool is_interrupted(void)
{
    return mo_interrupt_last_signal() != 0;
}

void mo_place_stop_init(const mo_place_context *setting, double seconds,
                        mo_stop *stop)
{
    mo_stop_after(stop, seconds);
    stop->signaled = is_interrupted;
    stop->outer = setting->stop;
}

/* Makes the task of a method; p is for its progress. */
static mo_method_task make_task(const mo_place_context *setting,
                                const mo_instance *x, const mo_method *method,
                                const mo_stop *stop, mo_search_progress *p)
{
    const mo_place_options *o = setting->options;

    return (mo_method_task){
        .method = method,
        .x = x,
        .regime = setting->regime,
        .objective = setting->objective,
        .in_flight = setting->in_flight,
        .seed = (uint64_t) o->seed,
        .threads = (int) o->threads,
        .gap = o->gap,
        .rounds = (int) o->rounds,
        .max_work = (int64_t) (o->work_s * 1e9),
        .stop = stop,
        .assist = setting->assist,
        .found = setting->found,
        .policy = o->policy,
        .curve = o->curve,
        .no_learning = o->no_learning,
        .certify = true,
        .start = setting->start,
        .stress = o->stress,
        .on_progress = setting->on_progress ? setting->on_progress
                                            : mo_search_progress_report,
        .context = setting->on_progress ? setting->context : p,
    };
}

mo_status mo_place_search_replicas(const mo_place_context *setting,
                                   const mo_instance *x, int wanted,
                                   const mo_place_result *known,
                                   mo_replicas_result *found, mo_error *err)
{
    mo_search_progress p;
    mo_stop stop;
    const mo_method_task task =
        make_task(setting, x, &mo_method_moirai, &stop, &p);
    mo_progress step;
    mo_status status;

    mo_place_stop_init(setting, setting->options->time_s, &stop);
    mo_driver_log_step(setting->logger, &step, "searching for copies");
    status = mo_replicas_search(&task, wanted, known ? &known->placed : NULL,
                                found, err);
    mo_progress_end(&step);
    return status;
}

static void run_method(const mo_place_context *setting, const mo_instance *x,
                       double seconds, mo_place_result *e)
{
    mo_search_progress p;
    double begin_s = mo_driver_clock_s();
    mo_stop stop;
    const mo_method_task task = make_task(setting, x, e->method, &stop, &p);

    mo_place_stop_init(setting, seconds, &stop);
    mo_search_progress_begin(&p, setting->logger, e->method->name);
    e->status = e->method->place(&task, &e->placed, &e->err);
    mo_search_progress_end(&p);
    e->row.seconds = mo_driver_clock_s() - begin_s;
    if (e->placed.stopped && !e->placed.fits && !e->placed.infeasible)
        e->row.ended_by = mo_stop_is_requested(&stop) ? "signal" : "time limit";
    e->row.lower_ns = e->placed.lower_ns;
    e->row.rounds = e->placed.rounds;
}

mo_status mo_place_run_method(const mo_place_context *setting,
                              const mo_instance *x, const mo_method *method,
                              double seconds, mo_place_result *e, mo_error *err)
{
    *e = (mo_place_result){
        .method = method, .row = { .method = method->name, .fullest = MO_FREE }
    };
    if (is_interrupted() && method != &mo_method_single) {
        e->row.why = "not tried: a signal came first";
        return MO_OK;
    }
    run_method(setting, x, seconds, e);
    if (e->status == MO_E_MEMORY)
        return mo_fail_memory(err);
    if (e->status != MO_OK && e->method->learns && e->placed.schedule)
        return validate_placement(setting, x, e, err);
    if (e->status != MO_OK && method->learns) {
        *err = e->err;
        return e->status;
    }
    if (e->status != MO_OK)
        e->row.why = e->err.text;
    else if (!e->placed.schedule) {
        /* That none was found before the end of the time does not prove that
         * there is none. */
        mo_method_result *placed = &e->placed;
        size_t n;

        if (!placed->why[0])
            snprintf(placed->why, sizeof placed->why, "found no placement");
        n = strlen(placed->why);
        if (e->row.ended_by)
            snprintf(placed->why + n, sizeof placed->why - n,
                     "; the %s ended the search, and there may be one",
                     e->row.ended_by);
        e->row.why = placed->why;
    }
    return e->row.why ? MO_OK : validate_placement(setting, x, e, err);
}

void mo_place_result_clear(mo_place_result *e)
{
    mo_method_result_clear(&e->placed);
}
