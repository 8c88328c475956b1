/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "driver/place/method_run.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver/place/method_progress.h"
#include "schedule/bound/lower_bound.h"
#include "schedule/period/loads.h"
#include "schedule/period/modulo_schedule.h"
#include "schedule/validate/validate.h"
#include "solvers/process/interrupt.h"
#include "solvers/search/period/price_bound.h"

static bool is_interrupted(void)
{
    return mo_interrupt_last_signal() != 0;
}

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

    if (status == MO_OK)
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
        e->row.steady_ns = m.period_ns;
        e->row.latency_ns = m.request->makespan_ns;
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
    mo_status status =
        mo_validate(x, e->placed.schedule, x->n_devices + 1, &verdict, err);

    if (status != MO_OK)
        return status;
    look_at_violations(verdict, e);
    find_fullest(x, verdict->peak_bytes, e);
    e->row.makespan_ns = e->placed.schedule->makespan_ns;
    mo_verdict_free(verdict);
    return setting->objective == MO_OBJECTIVE_PERIOD
               ? evaluate_period(setting, x, e, err)
               : MO_OK;
}

static mo_method_task task_for(const mo_place_context *setting,
                               const mo_method *method, const mo_instance *x,
                               const mo_stop *stop, mo_place_progress *news)
{
    const mo_place_options *o = setting->options;

    return (mo_method_task){ .method = method,
                             .x = x,
                             .regime = setting->regime,
                             .objective = setting->objective,
                             .in_flight = setting->in_flight,
                             .seed = (uint64_t) o->seed,
                             .threads = (int) o->threads,
                             .gap = o->gap,
                             .rounds = (int) o->rounds,
                             .stop = stop,
                             .assist = setting->assist,
                             .found = setting->found,
                             .policy = o->policy,
                             .curve = o->curve,
                             .no_learning = o->no_learning,
                             .on_progress = setting->on_progress
                                                ? setting->on_progress
                                                : mo_place_progress_update,
                             .context = setting->on_progress ? setting->context
                                                             : news };
}

static void let_work(const mo_place_context *setting, const mo_instance *x,
                     double seconds, mo_place_result *e)
{
    double begin_s = mo_driver_clock_s();
    mo_place_progress news;
    mo_stop stop;
    mo_method_task task = task_for(setting, e->method, x, &stop, &news);

    mo_stop_after(&stop, seconds);
    stop.signaled = is_interrupted;
    stop.outer = setting->stop;
    mo_place_progress_begin(&news, e->method->name, setting->logger);
    e->status = e->method->place(&task, &e->placed, &e->err);
    mo_place_progress_end(&news);
    e->row.seconds = mo_driver_clock_s() - begin_s;
    if (e->placed.stopped && !e->placed.fits && !e->placed.infeasible)
        e->row.ended_by = mo_stop_is_requested(&stop) ? "signal" : "time limit";
    e->row.lower_ns = e->placed.lower_ns;
    e->row.rounds = e->placed.rounds;
}

/* Sets the reason of a row without a placement. That none was found before the
 * end of the time does not prove that there is none. */
static void set_reason(mo_place_result *e)
{
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
    let_work(setting, x, seconds, e);
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
    else if (!e->placed.schedule)
        set_reason(e);
    return e->row.why ? MO_OK : validate_placement(setting, x, e, err);
}

void mo_place_result_clear(mo_place_result *e)
{
    mo_method_result_clear(&e->placed);
}

static int rank_merit(const mo_place_result *e)
{
    return e->row.why ? 2 : !e->row.fits;
}

static bool is_better(const mo_place_result *a, const mo_place_result *b)
{
    if (rank_merit(a) != rank_merit(b))
        return rank_merit(a) < rank_merit(b);
    return !a->row.why && a->row.makespan_ns < b->row.makespan_ns;
}

void mo_place_rank_results(const mo_place_result *entries, int n,
                           const mo_place_result **ranked)
{
    for (int i = 0; i < n; i++) {
        int at = i;

        for (; at > 0 && is_better(&entries[i], ranked[at - 1]); at--)
            ranked[at] = ranked[at - 1];
        ranked[at] = &entries[i];
    }
}

static void log_contradiction(const mo_driver_log *logger, const char *source,
                              int64_t bound_ns, int64_t known_ns)
{
    mo_driver_log_warning(
        logger,
        "%s says that %.3f us is the least, but %.3f us is known; its bound is "
        "not taken",
        source, (double) bound_ns / 1000, (double) known_ns / 1000);
}

static mo_status bound_period(const mo_place_context *setting,
                              const mo_instance *x, int64_t known_ns,
                              int64_t *bound_ns, const char **bound_by,
                              mo_error *err)
{
    mo_period_problem p = { 0 };
    mo_stop stop;
    mo_status status = mo_period_problem_init(&p, x, &setting->regime, err);

    mo_stop_after(&stop, setting->options->time_s);
    stop.signaled = is_interrupted;
    stop.outer = setting->stop;
    if (status == MO_OK)
        status = mo_period_price_bound(&p, known_ns, &stop, bound_ns, err);
    *bound_by = "Lagrangian bound of the loads";
    mo_period_problem_clear(&p);
    return status;
}

mo_status mo_place_best_bound(const mo_place_context *setting,
                              const mo_instance *x,
                              const mo_place_result *const *ranked, int n,
                              int64_t *bound_ns, const char **bound_by,
                              mo_error *err)
{
    mo_stop stop;
    double limit_s;
    int64_t known_ns = n > 0 && !ranked[0]->row.why && ranked[0]->row.fits
                           ? ranked[0]->row.makespan_ns
                           : INT64_MAX;
    mo_lower_bound lower;
    mo_status status;

    *bound_ns = 0;
    *bound_by = NULL;
    for (int i = 0; i < n; i++) {
        int64_t ns = ranked[i]->row.lower_ns;

        if (ns > known_ns) {
            log_contradiction(setting->logger, ranked[i]->method->name, ns,
                              known_ns);
        } else if (ns > *bound_ns) {
            *bound_ns = ns;
            *bound_by = ranked[i]->method->name;
        }
    }
    /* Methods that prove a bound have computed this one already where it
     * pays. */
    if (*bound_ns > 0)
        return MO_OK;
    if (setting->objective == MO_OBJECTIVE_PERIOD)
        return bound_period(setting, x, known_ns, bound_ns, bound_by, err);
    limit_s = setting->options->time_s * n;
    if (limit_s > 0) {
        limit_s -= mo_driver_clock_s() - setting->begin_s;
        limit_s = limit_s > MO_PLACE_LEAST_S ? limit_s : MO_PLACE_LEAST_S;
    }
    mo_stop_after(&stop, limit_s);
    stop.signaled = is_interrupted;
    stop.outer = setting->stop;
    status = mo_bound_lower_until(x, &setting->regime, &stop, &lower, err);
    if (status == MO_OK && lower.bound_ns > 0) {
        *bound_ns = lower.bound_ns;
        *bound_by = lower.which;
    }
    return status;
}
