/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "driver/strengthen_model.h"

#include <stdio.h>
#include <string.h>

#include "base/minmax.h"
#include "driver/search_progress.h"
#include "models/formulation.h"
#include "schedule/bound/lower_bound.h"
#include "schedule/period/modulo_schedule.h"
#include "solvers/process/interrupt.h"
#include "solvers/search/driver/strengthen.h"

/* The default effort of a search before a model: counted work (base/stop.h), a
 * few seconds of one core for any network, so that the model does not depend on
 * the clock.  Rounds of the period take about as long for any graph. */
#define DEFAULT_WORK INT64_C(2500000000)
#define LARGE_WORK                                                             \
    INT64_C(2000000000)            /* less for each op, which is read and      \
                                    */
#define WORK_PER_OP INT64_C(60000) /* placed by list schedulers */
#define LEAST_WORK  INT64_C(1000000000)
enum { LARGE_OPS = 1000, PERIOD_ROUNDS = 4 };

/* The same for the bound of the full instance after the search, for networks
 * that are not large, where the gap is. */
#define BOUND_WORK INT64_C(400000000)
#define LEAST_GAP  0.01

/* Limits of the default effort, in seconds: the last resort on slow machines;
 * and of the period, whose model has nothing of the search. */
#define DEFAULT_LIMIT_S 120
#define PERIOD_LIMIT_S  5.5

/* A search that was stopped after so many seconds is a full one. */
#define FULL_S 2.0

static bool takes_patterns(const mo_prepare_options *p)
{
    return p->by_size || mo_prepare_has_patterns(p);
}

/* Whether the formulation has a use for a search. */
static bool takes_search(const mo_strengthen_options *s,
                         const mo_prepare_options *p)
{
    return strcmp(p->formulation, mo_formulation_compact.name) == 0 ||
           takes_patterns(p) ||
           (strcmp(p->formulation, mo_formulation_period.name) == 0 &&
            !s->writes_model);
}

mo_status mo_strengthen_check(const mo_strengthen_options *s,
                              const mo_prepare_options *p, mo_error *err)
{
    if (s->seconds > 0 && s->none)
        return mo_fail(err, MO_E_USAGE,
                       "--strengthen and --no-strengthen contradict each "
                       "other; give one of them");
    if (s->seconds > 0 && !takes_search(s, p))
        return mo_fail(
            err, MO_E_USAGE,
            "--strengthen is for --formulation compact and patterns; %s "
            "has no rows for what is proven",
            p->formulation);
    return MO_OK;
}

bool mo_strengthen_is_optimal(const mo_prepared *made)
{
    return made->strength && made->start &&
           made->strength->lower_ns >= made->start_ns;
}

static bool is_interrupted(void)
{
    return mo_interrupt_last_signal() != 0;
}

/* The start is the model's from here on, or replaced: reported before. */
static void report_search(const mo_strengthen_options *s,
                          const mo_prepare_options *p,
                          const mo_driver_log *logger, const mo_prepared *made,
                          bool in_time)
{
    double lower_us = (double) made->strength->lower_ns / 1000, us;

    if (logger->quiet)
        return;
    if (!made->start) {
        fprintf(stderr,
                "%s: no schedule is shorter than %.3f us; none was found that "
                "fits into memory%s\n",
                logger->command, lower_us,
                in_time ? "" : " before the search was stopped");
        return;
    }
    us = (double) made->start_ns / 1000;
    if (mo_strengthen_is_optimal(made))
        fprintf(stderr, "%s: %.3f us is optimal, proven by search",
                logger->command, us);
    else
        fprintf(stderr,
                "%s: a %s of %.3f us is known, none is shorter than "
                "%.3f us (gap %.2f %%)",
                logger->command,
                mo_prepare_objective(p) == MO_OBJECTIVE_PERIOD ? "period"
                                                               : "schedule",
                us, lower_us, us > 0 ? 100 * (us - lower_us) / us : 0);
    if (s->writes_model)
        fprintf(stderr, "; the model contains %s",
                p->slack > 0 ? "the bounds"
                             : "both; use --slack to add rows of your own");
    fprintf(stderr, "\n");
}

static bool is_full_search(const mo_stop *stop, double limit_s)
{
    return !is_interrupted() && (limit_s >= FULL_S || !mo_stop_reached(stop));
}

static void set_default_effort(const mo_instance *x,
                               mo_search_strengthen_options *options)
{
    if (options->objective == MO_OBJECTIVE_PERIOD)
        options->rounds = PERIOD_ROUNDS;
    else
        options->max_work =
            x->n <= LARGE_OPS
                ? DEFAULT_WORK
                : mo_max_i64(LARGE_WORK - WORK_PER_OP * x->n, LEAST_WORK);
}

mo_status mo_strengthen_search(const mo_instance *x, const mo_regime *regime,
                               mo_objective objective, double limit_s,
                               const mo_driver_log *logger,
                               mo_strengthen_result *found, mo_error *err)
{
    mo_stop stop;
    mo_search_progress progress;
    mo_search_strengthen_options options = { .objective = objective,
                                             .seed = 1,
                                             .stop = &stop,
                                             .on_progress =
                                                 mo_search_progress_report,
                                             .context = &progress };
    mo_status status;

    set_default_effort(x, &options);
    mo_stop_after(&stop, limit_s);
    stop.signaled = is_interrupted;
    mo_search_progress_begin(&progress, logger, "searching");
    status = mo_search_strengthen(x, regime, &options, &found->proven,
                                  &found->start, err);
    mo_search_progress_end(&progress);
    found->is_full = is_full_search(&stop, limit_s);
    return status;
}

/* Raises what the search has proven to the bound of the full instance
 * (schedule/bound/lower_bound.h), where a gap is left that a solver would not
 * close. */
static mo_status raise_lower(const mo_instance *x, const mo_regime *regime,
                             const mo_stop *stop, mo_prepared *made,
                             mo_error *err)
{
    int64_t *lower_ns = &made->strength->lower_ns;
    double gap_ns = (double) (made->start_ns - *lower_ns);
    _Atomic int64_t work = 0;
    const mo_stop part = { .deadline_ns = INT64_MAX,
                           .work = &work,
                           .max_work = BOUND_WORK,
                           .outer = stop };
    mo_lower_bound lower = { 0 };
    mo_status status;

    if (!made->start || gap_ns <= LEAST_GAP * (double) made->start_ns ||
        x->n > LARGE_OPS || mo_stop_reached(stop))
        return MO_OK;
    status = mo_bound_lower_until(x, regime, &part, &lower, err);
    if (status == MO_OK && lower.bound_ns > *lower_ns)
        *lower_ns = lower.bound_ns;
    return status;
}

mo_status mo_strengthen_model(const mo_strengthen_options *s,
                              const mo_prepare_options *p,
                              const mo_driver_log *logger, mo_prepared *made,
                              mo_error *err)
{
    const mo_regime regime = mo_prepare_regime(p);
    const mo_instance *x = made->loaded.instance;
    bool by_default = s->seconds < 0;
    double most_s =
        mo_prepare_objective(p) == MO_OBJECTIVE_PERIOD && !takes_patterns(p)
            ? PERIOD_LIMIT_S
            : DEFAULT_LIMIT_S;
    double limit_s = !by_default                             ? s->seconds
                     : s->limit_s > 0 && s->limit_s < most_s ? s->limit_s
                                                             : most_s;
    mo_stop stop;
    mo_search_progress progress;
    mo_search_strengthen_options options = { .objective =
                                                 mo_prepare_objective(p),
                                             .in_flight = (int) p->in_flight,
                                             .seed = (uint64_t) s->seed,
                                             .stop = &stop,
                                             .on_progress =
                                                 mo_search_progress_report,
                                             .context = &progress };
    double begin = mo_driver_clock_s();
    mo_status status;

    if (s->none || s->seconds == 0 || !takes_search(s, p))
        return MO_OK;
    if (by_default)
        set_default_effort(x, &options);
    if (takes_patterns(p)) {
        status = mo_pattern_set_new(x, p->slack, &made->patterns, err);
        if (status != MO_OK)
            return status;
        options.patterns = made->patterns;
    }
    mo_stop_after(&stop, limit_s);
    stop.signaled = is_interrupted;
    stop.outer = s->outer;
    mo_search_progress_begin(&progress, logger, "searching");
    status = mo_search_strengthen(x, &regime, &options, &made->strength,
                                  &made->start, err);
    mo_search_progress_end(&progress);
    if (status == MO_OK && made->start)
        status = mo_period_objective(x, options.objective, options.in_flight,
                                     made->start, &made->start_ns, err);
    if (status == MO_OK && by_default &&
        options.objective == MO_OBJECTIVE_LATENCY)
        status = raise_lower(x, &regime, &stop, made, err);
    if (status != MO_OK)
        return status;
    made->search_is_full = is_full_search(&stop, limit_s);
    mo_driver_log_info(logger, "searched for %.2f s",
                       mo_driver_clock_s() - begin);
    report_search(s, p, logger, made, !mo_stop_reached(&stop));
    if (by_default && s->writes_model && !logger->quiet &&
        mo_stop_reached(&stop) && !mo_strengthen_is_optimal(made))
        fprintf(stderr,
                "%s: the search was stopped after %.1f s: another run may "
                "write other bytes; see --strengthen\n",
                logger->command, limit_s);
    return MO_OK;
}
