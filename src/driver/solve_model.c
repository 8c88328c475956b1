/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "driver/solve_model.h"

#include <stdio.h>

#include "solvers/process/interrupt.h"

/* No run is started with less time left. */
#define LEAST_S 0.1

/* The MIP start is an answer, too, if it is valid: it remains if the solvers
 * find none or read no starts. */
static void enter_start(const mo_portfolio_options *options,
                        mo_answer_selector *selector, mo_portfolio *c)
{
    mo_portfolio_member *e = &c->entries[c->n];

    if (!options->start)
        return;
    *e = (mo_portfolio_member){ .is_start = true,
                                .ended = true,
                                .outcome = { .claim =
                                                 MO_SOLUTION_STATUS_FEASIBLE,
                                             .text = "as it was given" } };
    if (options->searched) {
        e->searched = true;
        e->outcome.has_bound = true;
        e->outcome.bound = options->start_bound;
        if (options->no_solver) {
            e->outcome.claim = MO_SOLUTION_STATUS_OPTIMAL;
            c->seconds = options->search_s;
        }
    }
    c->n++;
    if (mo_solution_read(options->start, &e->outcome.solution, NULL) == MO_OK)
        mo_answer_selector_on_answer(selector, e);
    if (e->judged && mo_answer_evaluation_valid(&e->judgement))
        return;
    mo_solver_outcome_clear(&e->outcome);
    mo_answer_evaluation_clear(&e->judgement);
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
    return MO_OK;
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

mo_status mo_driver_solve_model(const mo_portfolio_options *options,
                                const char *model, const mo_workdir *folder,
                                mo_answer_selector *selector, mo_portfolio *c,
                                mo_answer_selection *selection, mo_error *err)
{
    const mo_driver_log *logger = selector->logger;
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
    if (!logger->quiet)
        fprintf(stderr, "%s: %s%s\n", logger->command, selection->doubt,
                again ? "; solving again without presolve" : "");
    if (!again)
        return MO_OK;
    status = solve_again(&rest, model, folder, selector, c, selection, err);
    if (status == MO_OK && selection->doubt[0] && !logger->quiet)
        fprintf(stderr, "%s: still: %s\n", logger->command, selection->doubt);
    return status;
}
