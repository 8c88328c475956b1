/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "driver/solve_model.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/out.h"
#include "driver/known_schedule.h"
#include "driver/model_file.h"
#include "driver/raise_bound.h"
#include "driver/strengthen_model.h"
#include "solvers/process/interrupt.h"
#include "solvers/registry.h"

/* No run is started with less time left. */
#define LEAST_S 0.1

/* Part of the time limit that the root relaxation may take beyond it. */
#define ROOT_LP_SHARE 0.1

/* Limits of the default duration of a cross-check, in seconds. */
#define CHECK_LEAST_S 5.0
#define CHECK_MOST_S  30.0

/* Share of the time of a cross-check for the search. */
#define SEARCH_SHARE 0.5

/* A model, and what is known about it so far. */
typedef struct solving {
    const mo_portfolio_options *options;
    const char *model;
    const mo_workdir *folder;
    mo_answer_selector *selector;
    mo_portfolio *portfolio;
    mo_answer_selection *selection;
    double check_end_s; /* of the cross-check, by mo_driver_clock_s() */
} solving;

static void select_again(const solving *k)
{
    mo_answer_selector_select(k->selector, k->portfolio, k->selection);
}

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

static mo_status run_portfolio(const solving *k,
                               const mo_portfolio_options *options,
                               const mo_driver_log *logger, mo_portfolio *c,
                               mo_error *err)
{
    const mo_review *r = &k->selector->review;
    const mo_portfolio_job job = { .options = options,
                                   .model = k->model,
                                   .unit_ns = r->origin.unit_ns,
                                   .folder = k->folder,
                                   .logger = logger,
                                   .on_finish = mo_answer_selector_on_answer,
                                   .context = k->selector };

    return mo_portfolio_run(&job, c, err);
}

static mo_status solve_once(const solving *k,
                            const mo_portfolio_options *options, bool presolve,
                            mo_error *err)
{
    mo_answer_selector *selector = k->selector;
    const mo_driver_log *logger = selector->logger;
    mo_portfolio *c = k->portfolio;
    mo_status status = MO_OK;

    if (!options->no_solver)
        status = mo_portfolio_find_solvers(options, logger, c, err);
    c->presolve = presolve;
    if (status == MO_OK && !options->no_solver)
        status = run_portfolio(k, options, logger, c, err);
    if (status != MO_OK)
        return status;
    /* If all members failed, that is the error; otherwise each failure is
     * logged. */
    for (int i = 0; i < c->n && !logger->quiet; i++)
        if (c->entries[i].status != MO_OK)
            fprintf(stderr, "%s: %s: %s\n", logger->command,
                    mo_portfolio_member_title(&c->entries[i]),
                    c->entries[i].err.text);
    enter_start(options, selector, c);
    select_again(k);
    if (selector->failure.status != MO_OK)
        *err = selector->failure;
    return selector->failure.status;
}

/* Solves again after a contradiction, without presolve, the usual cause;
 * results are not trusted either while the contradiction persists. A valid
 * answer is kept in any case. */
static mo_status solve_again(const solving *k,
                             const mo_portfolio_options *options, mo_error *err)
{
    const mo_answer_selection *selection = k->selection;
    double first_us =
        selection->best
            ? mo_answer_selector_makespan_us(k->selector, selection->best)
            : -1;
    mo_portfolio first = *k->portfolio;
    mo_status status;

    *k->portfolio = (mo_portfolio){ 0 };
    status = solve_once(k, options, false, err);
    if (status == MO_OK &&
        (first_us < 0 ||
         (selection->best && mo_answer_selector_makespan_us(
                                 k->selector, selection->best) <= first_us))) {
        mo_portfolio_clear(&first);
        return MO_OK;
    }
    mo_portfolio_clear(k->portfolio);
    *k->portfolio = first;
    if (status == MO_OK)
        select_again(k);
    return status;
}

static void log_doubt(const mo_driver_log *logger, const char *before,
                      const char *doubt, const char *after)
{
    if (!logger->quiet)
        fprintf(stderr, "%s: %s%s%s\n", logger->command, before, doubt, after);
}

/* Solves, and once more after a contradiction. */
static mo_status solve_and_repeat(const solving *k, mo_error *err)
{
    const mo_driver_log *logger = k->selector->logger;
    const char *doubt = k->selection->doubt;
    mo_portfolio_options rest = *k->options;
    bool again;
    mo_status status = solve_once(k, k->options, true, err);

    if (status != MO_OK || !doubt[0])
        return status;
    rest.time_s -= k->options->time_s > 0 ? k->portfolio->seconds : 0;
    /* Commands of the user have no presolve option. */
    again = k->portfolio->entries[0].way != MO_SOLVER_VIA_COMMAND &&
            (k->options->time_s == 0 || rest.time_s > LEAST_S) &&
            mo_interrupt_last_signal() == 0;
    log_doubt(logger, "", doubt,
              again ? "; solving again without presolve" : "");
    if (!again)
        return MO_OK;
    status = solve_again(k, &rest, err);
    if (status == MO_OK && doubt[0])
        log_doubt(logger, "still: ", doubt, "");
    return status;
}

/* The bound of the root relaxation joins those computed here, where they leave
 * a gap.  It may take what is left of the time limit, or a tenth of it. */
static mo_status raise_bound(const solving *k, double left_s, mo_error *err)
{
    const mo_portfolio_options *options = k->options;
    const mo_portfolio_member *best = k->selection->best;
    const mo_review *r = &k->selector->review;
    double seconds = options->root_lp_s;
    mo_lower_bound bound = { k->selection->own.bound_ns, k->selection->own.by };
    mo_status status;

    if (!best || !best->evaluated || !bound.which ||
        best->evaluation.period_ns >= 0 || mo_interrupt_last_signal() != 0)
        return MO_OK;
    if (options->time_s > 0)
        seconds = fmin(seconds, fmax(left_s, ROOT_LP_SHARE * options->time_s));
    status = mo_root_lp_raise(r->problem.instance, &r->regime,
                              best->evaluation.schedule->makespan_ns, seconds,
                              k->selector->logger, &bound, err);
    if (status != MO_OK || bound.bound_ns == k->selection->own.bound_ns)
        return status;
    mo_answer_selector_add_bound(k->selector, bound.bound_ns, bound.which);
    select_again(k);
    return MO_OK;
}

static double check_left_s(const solving *k)
{
    return k->check_end_s - mo_driver_clock_s();
}

static bool check_goes_on(const solving *k)
{
    return k->selection->open_claim && check_left_s(k) > LEAST_S &&
           mo_interrupt_last_signal() == 0 &&
           k->portfolio->n < MO_PORTFOLIO_ENTRIES;
}

static mo_status check_by_search(const solving *k, mo_error *err)
{
    mo_answer_selector *selector = k->selector;
    const mo_review *r = &selector->review;
    mo_strengthen_result found = { 0 };
    mo_status status;

    if (selector->searched || !mo_answer_selector_can_search(selector))
        return MO_OK;
    selector->searched = true;
    status = mo_strengthen_search(
        r->problem.instance, &r->regime, mo_known_schedule_objective(selector),
        SEARCH_SHARE * check_left_s(k), selector->logger, &found, err);
    selector->search_is_full = found.is_full;
    if (status == MO_E_INFEASIBLE) {
        selector->proven_infeasible = true;
        status = MO_OK;
    } else if (status == MO_OK) {
        mo_answer_selector_add_bound(selector, found.proven->lower_ns,
                                     "search");
        if (found.start)
            mo_known_schedule_take(selector, found.start, "search");
        status = mo_known_schedule_enter(selector, k->folder, k->portfolio,
                                         k->selection, err);
    }
    mo_proven_bounds_free(found.proven);
    if (status == MO_OK)
        select_again(k);
    return status;
}

/* Writes the answer as a MIP start. */
static mo_status write_answer(const mo_solution *s, const char *path,
                              mo_error *err)
{
    mo_out *out;
    mo_status status = mo_out_open(path, &out, err);

    if (status != MO_OK)
        return status;
    mo_out_text(out, "# status: feasible\n");
    for (int i = 0; i < s->n; i++) {
        if (!s->values[i].name || !isfinite(s->values[i].value))
            continue;
        mo_out_text(out, s->values[i].name);
        mo_out_char(out, ' ');
        mo_out_double(out, s->values[i].value);
        mo_out_char(out, '\n');
    }
    return mo_out_commit(out, err);
}

/* Runs one solver; what it finds joins the portfolio. A solver that is not
 * installed or fails is no error. */
static mo_status check_by_solver(const solving *k, const mo_solver *solver,
                                 const char *start, mo_error *err)
{
    mo_driver_log quiet = *k->selector->logger;
    mo_portfolio_options options = *k->options;
    mo_portfolio found = { 0 };
    mo_portfolio_member *e = &found.entries[0];
    mo_status status;

    quiet.quiet = true;
    options.solvers = solver->name;
    options.via = options.command = options.path = NULL;
    options.start = start;
    options.gap = -1;
    options.time_s = check_left_s(k);
    status = mo_portfolio_find_solvers(&options, &quiet, &found, err);
    if (status == MO_OK) {
        mo_driver_log_info(k->selector->logger,
                           "cross-check by %s, at most %.1f s", solver->title,
                           check_left_s(k));
        status = run_portfolio(k, &options, &quiet, &found, err);
    }
    if (status == MO_OK && e->ended) {
        k->portfolio->entries[k->portfolio->n++] = *e;
        found.n = 0;
        select_again(k);
    }
    mo_portfolio_clear(&found);
    return status == MO_E_MEMORY ? status : MO_OK;
}

/* Whether the portfolio has a claim of that solver. */
static bool has_claim(const mo_portfolio *c, const mo_solver *solver)
{
    for (int i = 0; i < c->n; i++)
        if (c->entries[i].solver == solver && c->entries[i].status == MO_OK &&
            (c->entries[i].outcome.claim == MO_SOLUTION_STATUS_OPTIMAL ||
             c->entries[i].outcome.claim == MO_SOLUTION_STATUS_INFEASIBLE))
            return true;
    return false;
}

/*
 * Cross-check: confirmation of a solver's claim by other means.
 *
 * Branch and bound gives no certificate, and solvers have claimed optima that
 * were none. Where the bounds computed here leave a claim open, the search of
 * solvers/search is run, also where two solvers agree; then, with one claim,
 * every other solver that is installed, with the answer as its MIP start. The
 * bound of the search or a second solver confirms the claim, a better schedule
 * refutes it; no solver confirms itself. The answer is one of the model where
 * that may have rows of the user; else the schedule of the search may be it.
 *
 * Takes options->cross_check_s at most, by default as long as the solvers took,
 * within limits, and no longer than left_s (0: no limit). A cross-check that
 * cannot be made leaves the claim open; only exhausted memory is an error.
 */
static mo_status cross_check(solving *k, double left_s, mo_error *err)
{
    double begin_s = mo_driver_clock_s(), limit_s = k->options->cross_check_s;
    const mo_portfolio_member *best;
    char *start = NULL;
    mo_status status;

    if (limit_s < 0)
        limit_s =
            fmin(fmax(k->portfolio->seconds, CHECK_LEAST_S), CHECK_MOST_S);
    if (left_s > 0)
        limit_s = fmin(limit_s, left_s);
    k->check_end_s = begin_s + limit_s;
    if (!check_goes_on(k))
        return MO_OK;
    status = check_by_search(k, err);
    best = k->selection->best;
    if (status == MO_OK && check_goes_on(k) && best) {
        start = mo_workdir_file(k->folder, "claim.sol");
        status = start ? write_answer(best->outcome.solution, start, err)
                       : mo_fail_memory(err);
    }
    for (int i = 0; status == MO_OK && mo_solver_table[i] && check_goes_on(k);
         i++)
        if (!has_claim(k->portfolio, mo_solver_table[i]))
            status = check_by_solver(k, mo_solver_table[i], start, err);
    free(start);
    k->portfolio->cross_check_s = mo_driver_clock_s() - begin_s;
    return status;
}

static mo_status solve_and_check(solving *k, mo_error *err)
{
    const mo_answer_selector *selector = k->selector;
    const mo_answer_selection *selection = k->selection;
    double time_s = k->options->time_s, left_s = 0;
    double begin_s = mo_driver_clock_s();
    char doubt[sizeof selection->doubt];
    mo_status status = solve_and_repeat(k, err);

    if (time_s > 0)
        left_s = fmax(time_s - (mo_driver_clock_s() - begin_s), 1e-6);
    if (status == MO_OK)
        status = raise_bound(k, left_s, err);
    if (time_s > 0)
        left_s = fmax(time_s - (mo_driver_clock_s() - begin_s), 1e-6);
    if (status != MO_OK)
        return status;
    memcpy(doubt, selection->doubt, sizeof doubt);
    if (selection->open_claim)
        status = cross_check(k, left_s, err);
    if (status == MO_OK && selection->known_refutes)
        status = mo_known_schedule_enter(k->selector, k->folder, k->portfolio,
                                         k->selection, err);
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
    solving k = { .options = options,
                  .model = model,
                  .folder = folder,
                  .selector = selector,
                  .portfolio = c,
                  .selection = selection };
    uint64_t before = 0, after = 0;
    bool emitted = true;
    mo_status status = MO_OK;

    if (!options->no_solver)
        status = mo_model_file_digest(model, &before, &emitted, err);
    selector->is_emitted = emitted;

    if (status == MO_OK)
        status = solve_and_check(&k, err);
    if (status == MO_OK && !options->no_solver)
        status = mo_model_file_digest(model, &after, &emitted, err);
    if (status == MO_OK && before != after)
        return mo_fail_at(err, MO_E_INPUT, model, 0,
                          "was changed while a solver ran; its answers are "
                          "not used, solve again without that solver");
    return status;
}
