/* SPDX-License-Identifier: Apache-2.0 */
/* Placement by MILP solvers, which run in child processes. */
#include <config.h>

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "driver/portfolio.h"
#include "lib/handles.h"
#include "lib/model.h"
#include "solvers/process/interrupt.h"
#include "solvers/process/workdir.h"

enum { POLL_MS = 20 };

/* A call of moirai_solve() that runs. */
typedef struct solve_run {
    const moirai_instance *instance;
    const moirai_options *options;
    int64_t unit_ns;
    moirai_placement *best;
    mo_status status; /* exhausted memory */
    mo_error err;
    atomic_bool ended; /* the watch of cancellation ends */
} solve_run;

static bool is_better(const moirai_placement *a, const moirai_placement *b)
{
    bool valid = moirai_placement_n_violations(a) == 0;

    return valid &&
           (!b || mo_answer_evaluation_objective_ns(&a->evaluation) <
                      mo_answer_evaluation_objective_ns(&b->evaluation));
}

/* Callback of the portfolio: keeps the best answer that is valid. Returns
 * whether it is proven optimal here, so that others can stop. */
static bool take_answer(void *context, mo_portfolio_member *member)
{
    solve_run *s = context;
    moirai_placement *answer = NULL;
    const char *title = mo_portfolio_member_title(member);
    mo_error err = { 0 };
    mo_status status;

    if (member->status != MO_OK || !member->outcome.solution)
        return false;
    status = mo_lib_placement_of_solution(
        s->instance, title, member->outcome.solution, NULL, &answer, &err);
    if (status == MO_E_MEMORY) {
        s->status = status;
        s->err = err;
    }
    if (status != MO_OK)
        return false;
    snprintf(answer->method, sizeof answer->method, "%s", title);
    if (member->outcome.has_bound && isfinite(member->outcome.bound) &&
        member->outcome.bound > 0)
        mo_lib_placement_claim(
            answer, llround(fmin(member->outcome.bound * (double) s->unit_ns,
                                 (double) MO_MAX_TOTAL_NS)));
    if (is_better(answer, s->best)) {
        moirai_placement *worse = s->best;

        s->best = answer;
        answer = worse;
    }
    moirai_placement_free(answer);
    return s->best && moirai_placement_gap(s->best) <= 0;
}

/* Thread: when the options are cancelled, solvers stop as after a signal. */
static void *watch_cancel(void *context)
{
    solve_run *s = context;
    const struct timespec pause = { 0, POLL_MS * 1000000L };

    while (!atomic_load(&s->ended)) {
        if (mo_stop_is_requested(&s->options->stop))
            mo_interrupt_all();
        nanosleep(&pause, NULL);
    }
    return NULL;
}

static mo_status write_model(const solve_run *s, const mo_prepared *made,
                             const mo_workdir *folder, mo_error *err)
{
    mo_out *out = NULL;
    mo_status status =
        mo_workdir_create_file(mo_workdir_path(folder), "model.mps", &out, err);

    if (status == MO_OK)
        status = mo_lib_model_write(s->instance, made, true, out, err);
    return mo_lib_close_output(out, status, err);
}

static mo_status run_solvers(solve_run *s, const mo_portfolio_options *o,
                             const char *model, const mo_workdir *folder,
                             mo_portfolio *portfolio, mo_error *err)
{
    const mo_driver_log logger = mo_lib_log(s->options);
    pthread_t watch;
    bool watches;
    mo_status status = mo_portfolio_find_solvers(o, &logger, portfolio, err);

    if (status != MO_OK)
        return status;
    watches = s->options && pthread_create(&watch, NULL, watch_cancel, s) == 0;
    status = mo_portfolio_run(o, model, s->unit_ns, folder, &logger,
                              take_answer, s, portfolio, err);
    atomic_store(&s->ended, true);
    if (watches)
        pthread_join(watch, NULL);
    if (status == MO_OK && s->status != MO_OK) {
        if (err)
            *err = s->err;
        return s->status;
    }
    return status;
}

static mo_status no_answer(const solve_run *s, const mo_portfolio *portfolio,
                           mo_error *err)
{
    const mo_portfolio_member *first = &portfolio->entries[0];

    if (s->options && mo_stop_is_requested(&s->options->stop))
        return mo_fail(err, (mo_status) MOIRAI_E_CANCELLED,
                       "cancelled before there was a placement");
    return mo_fail(err, (mo_status) MOIRAI_E_NO_SOLUTION,
                   "no valid placement: %s: %s",
                   mo_portfolio_member_title(first), first->outcome.text);
}

static mo_status solve_in(solve_run *s, const mo_prepared *made,
                          const mo_workdir *folder, mo_error *err)
{
    const mo_portfolio_options *o = &mo_lib_settings_of(s->options)->portfolio;
    mo_portfolio portfolio = { 0 };
    char *model = mo_workdir_file(folder, "model.mps");
    mo_status status =
        model ? write_model(s, made, folder, err) : mo_fail_memory(err);

    if (status == MO_OK)
        status = run_solvers(s, o, model, folder, &portfolio, err);
    if (status == MO_OK && !s->best)
        status = no_answer(s, &portfolio, err);
    mo_portfolio_clear(&portfolio);
    free(model);
    return status;
}

moirai_status moirai_solve(const moirai_instance *instance,
                           const moirai_options *options,
                           moirai_placement **placement, moirai_error *err)
{
    mo_error *e = mo_lib_error(err);
    solve_run s = { .instance = instance, .options = options };
    mo_prepared made = { 0 };
    mo_workdir *folder = NULL;
    mo_status status =
        mo_portfolio_check_options(&mo_lib_settings_of(options)->portfolio, e);

    if (status == MO_OK)
        status = mo_lib_model_make(instance, options, &made, e);
    if (status == MO_OK) {
        s.unit_ns = made.model.frame->unit_ns;
        status = mo_workdir_new(&folder, e);
    }
    if (status == MO_OK)
        status = solve_in(&s, &made, folder, e);
    mo_workdir_free(folder);
    mo_lib_model_clear(&made);
    if (status == MO_OK)
        *placement = s.best;
    else
        moirai_placement_free(s.best);
    return mo_lib_status(status);
}
