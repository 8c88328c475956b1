/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "driver/solve_model.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "driver/cross_check.h"
#include "driver/known_schedule.h"
#include "driver/model_file.h"
#include "driver/root_lp.h"
#include "solvers/process/interrupt.h"

/* No run is started with less time left. */
#define LEAST_S 0.1

/* Part of the time limit that the root relaxation may take beyond it. */
#define ROOT_LP_SHARE 0.1

/* The MIP start, or a known schedule that is none, is an answer, too, if it is
 * valid: it remains if the solvers find none or read no starts. Of a model that
 * is not as it was emitted it may violate rows, which only solvers check. */
static void enter_start(const mo_portfolio_options *options,
                        mo_answer_selector *selector, mo_portfolio *c)
{
    const char *path = options->known ? options->known : options->start;
    mo_portfolio_member *e = &c->entries[c->n];
    mo_status status;

    if (!path || !selector->is_emitted)
        return;
    *e = (mo_portfolio_member){ .is_start = true,
                                .ended = true,
                                .outcome = { .claim =
                                                 MO_SOLUTION_STATUS_FEASIBLE,
                                             .text = "as it was given" } };
    if (options->searched) {
        e->origin = "search";
        if (options->no_solver)
            c->seconds = options->search_s;
    }
    c->n++;
    status = mo_solution_read(path, &e->outcome.solution, &e->err);
    if (status == MO_OK)
        mo_answer_selector_on_answer(selector, e);
    else if (status == MO_E_IO || status == MO_E_MEMORY)
        selector->failure = e->err;
    if (e->evaluated && mo_answer_evaluation_valid(&e->evaluation))
        return;
    if (e->evaluated && c->presolve && !selector->logger->quiet)
        fprintf(stderr, "%s: %s: is no answer: %.300s\n",
                selector->logger->command, path,
                mo_answer_evaluation_violation(&e->evaluation, 0));
    mo_solver_outcome_clear(&e->outcome);
    mo_answer_evaluation_clear(&e->evaluation);
    c->n--;
}

static mo_status solve_once(const mo_portfolio_options *options,
                            const char *model, const mo_workdir *folder,
                            bool presolve, mo_answer_selector *selector,
                            mo_portfolio *c, mo_answer_selection *selection,
                            mo_error *err)
{
    mo_status status = MO_OK;

    if (!options->no_solver)
        status = mo_portfolio_find_solvers(options, selector->logger, c, err);
    c->presolve = presolve;
    if (status == MO_OK && !options->no_solver)
        status = mo_portfolio_run(
            options, model, selector->review.origin.unit_ns, folder,
            selector->logger, mo_answer_selector_on_answer, selector, c, err);
    if (status != MO_OK)
        return status;
    /* If all members failed, that is the error; otherwise each failure is
     * logged. */
    for (int i = 0; i < c->n && !selector->logger->quiet; i++)
        if (c->entries[i].status != MO_OK)
            fprintf(stderr, "%s: %s: %s\n", selector->logger->command,
                    mo_portfolio_member_title(&c->entries[i]),
                    c->entries[i].err.text);
    enter_start(options, selector, c);
    mo_answer_selector_select(selector, c, selection);
    if (selector->failure.status != MO_OK)
        *err = selector->failure;
    return selector->failure.status;
}

/* Whether the second selection is better than the first, which may have no
 * answer. */
static bool is_better(const mo_answer_selector *selector, double first_us,
                      const mo_answer_selection *second)
{
    return first_us < 0 ||
           (second->best &&
            mo_answer_selector_makespan_us(selector, second->best) <= first_us);
}

/* Solves again after a contradiction, without presolve, the usual cause;
 * results are not trusted either while the contradiction persists. A valid
 * answer is kept in any case. */
static mo_status solve_again(const mo_portfolio_options *options,
                             const char *model, const mo_workdir *folder,
                             mo_answer_selector *selector, mo_portfolio *c,
                             mo_answer_selection *selection, mo_error *err)
{
    double first_us =
        selection->best
            ? mo_answer_selector_makespan_us(selector, selection->best)
            : -1;
    mo_portfolio first = *c;
    mo_status status;

    *c = (mo_portfolio){ 0 };
    status =
        solve_once(options, model, folder, false, selector, c, selection, err);
    if (status == MO_OK && is_better(selector, first_us, selection)) {
        mo_portfolio_clear(&first);
        return MO_OK;
    }
    mo_portfolio_clear(c);
    *c = first;
    if (status == MO_OK)
        mo_answer_selector_select(selector, c, selection);
    return status;
}

static void log_doubt(const mo_driver_log *logger, const char *before,
                      const char *doubt, const char *after)
{
    if (!logger->quiet)
        fprintf(stderr, "%s: %s%s%s\n", logger->command, before, doubt, after);
}

/* Solves, and once more after a contradiction. */
static mo_status solve_and_repeat(const mo_portfolio_options *options,
                                  const char *model, const mo_workdir *folder,
                                  mo_answer_selector *selector, mo_portfolio *c,
                                  mo_answer_selection *selection, mo_error *err)
{
    mo_portfolio_options rest = *options;
    bool again;
    mo_status status =
        solve_once(options, model, folder, true, selector, c, selection, err);

    if (status != MO_OK || !selection->doubt[0])
        return status;
    rest.time_s -= options->time_s > 0 ? c->seconds : 0;
    /* Commands of the user have no presolve option. */
    again = c->entries[0].way != MO_SOLVER_VIA_COMMAND &&
            (options->time_s == 0 || rest.time_s > LEAST_S) &&
            mo_interrupt_last_signal() == 0;
    log_doubt(selector->logger, "", selection->doubt,
              again ? "; solving again without presolve" : "");
    if (!again)
        return MO_OK;
    status = solve_again(&rest, model, folder, selector, c, selection, err);
    if (status == MO_OK && selection->doubt[0])
        log_doubt(selector->logger, "still: ", selection->doubt, "");
    return status;
}

/* The bound of the root relaxation joins those computed here, where they leave
 * a gap.  It may take what is left of the time limit, or a tenth of it. */
static mo_status raise_bound(const mo_portfolio_options *options, double left_s,
                             mo_answer_selector *selector, mo_portfolio *c,
                             mo_answer_selection *selection, mo_error *err)
{
    const mo_review *r = &selector->review;
    double seconds = options->root_lp_s;
    mo_answer_bound bound = selection->own;
    mo_status status;

    if (!selection->best || !selection->best->evaluated || !bound.by ||
        selection->best->evaluation.period_ns >= 0 ||
        mo_interrupt_last_signal() != 0)
        return MO_OK;
    if (options->time_s > 0)
        seconds = fmin(seconds, fmax(left_s, ROOT_LP_SHARE * options->time_s));
    status = mo_root_lp_raise(r->made.loaded.instance, &r->regime,
                              selection->best->evaluation.schedule->makespan_ns,
                              seconds, selector->logger, &bound.bound_ns,
                              &bound.by, err);
    if (status != MO_OK || bound.bound_ns == selection->own.bound_ns)
        return status;
    mo_answer_selector_add_bound(selector, bound.bound_ns, bound.by);
    mo_answer_selector_select(selector, c, selection);
    return MO_OK;
}

static mo_status solve_and_check(const mo_portfolio_options *options,
                                 const char *model, const mo_workdir *folder,
                                 mo_answer_selector *selector, mo_portfolio *c,
                                 mo_answer_selection *selection, mo_error *err)
{
    double begin_s = mo_driver_clock_s(), left_s = 0;
    char doubt[sizeof selection->doubt];
    mo_status status =
        solve_and_repeat(options, model, folder, selector, c, selection, err);

    if (options->time_s > 0)
        left_s = fmax(options->time_s - (mo_driver_clock_s() - begin_s), 1e-6);
    if (status == MO_OK)
        status = raise_bound(options, left_s, selector, c, selection, err);
    if (options->time_s > 0)
        left_s = fmax(options->time_s - (mo_driver_clock_s() - begin_s), 1e-6);
    if (status != MO_OK)
        return status;
    memcpy(doubt, selection->doubt, sizeof doubt);
    if (selection->open_claim)
        status = mo_cross_check(options, model, folder, left_s, selector, c,
                                selection, err);
    if (status == MO_OK && selection->known_refutes)
        status = mo_known_schedule_enter(selector, folder, c, selection, err);
    if (status == MO_OK && selector->failure.status != MO_OK) {
        *err = selector->failure;
        status = err->status;
    }
    if (status == MO_OK && selection->doubt[0] &&
        strcmp(doubt, selection->doubt) != 0)
        log_doubt(selector->logger, "", selection->doubt, "");
    return status;
}

/* A solver can write what its user can write. Answers to a model that was
 * changed are worthless, and so is a check by other solvers that read it. */
mo_status mo_driver_solve_model(const mo_portfolio_options *options,
                                const char *model, const mo_workdir *folder,
                                mo_answer_selector *selector, mo_portfolio *c,
                                mo_answer_selection *selection, mo_error *err)
{
    uint64_t before = 0, after = 0;
    bool emitted = true;
    mo_status status = MO_OK;

    if (!options->no_solver)
        status = mo_model_file_digest(model, &before, &emitted, err);
    selector->is_emitted = emitted;

    if (status == MO_OK)
        status = solve_and_check(options, model, folder, selector, c, selection,
                                 err);
    if (status == MO_OK && !options->no_solver)
        status = mo_model_file_digest(model, &after, &emitted, err);
    if (status == MO_OK && before != after)
        return mo_fail_at(err, MO_E_INPUT, model, 0,
                          "was changed while a solver ran; its answers are "
                          "not used, solve again without that solver");
    return status;
}
