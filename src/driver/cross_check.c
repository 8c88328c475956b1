/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "driver/cross_check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/out.h"
#include "driver/known_schedule.h"
#include "driver/strengthen_model.h"
#include "solvers/process/interrupt.h"
#include "solvers/registry.h"

/* Limits of the default duration, in seconds. */
#define DEFAULT_LEAST_S 5.0
#define DEFAULT_MOST_S  30.0

/* Nothing is started with less time left. */
#define LEAST_S 0.1

/* Share of the time for the search. */
#define SEARCH_SHARE 0.5

typedef struct check {
    const mo_portfolio_options *options;
    const char *model;
    const mo_workdir *folder;
    mo_answer_selector *selector;
    mo_portfolio *portfolio;
    mo_answer_selection *selection;
    double begin_s, limit_s;
} check;

static double time_left_s(const check *k)
{
    return k->limit_s - (mo_driver_clock_s() - k->begin_s);
}

static bool goes_on(const check *k)
{
    return k->selection->open_claim && time_left_s(k) > LEAST_S &&
           mo_interrupt_last_signal() == 0 &&
           k->portfolio->n < MO_PORTFOLIO_ENTRIES;
}

static void select_again(check *k)
{
    mo_answer_selector_select(k->selector, k->portfolio, k->selection);
}

static mo_status run_search(check *k, mo_error *err)
{
    const mo_review *r = &k->selector->review;
    mo_proven_bounds *proven = NULL;
    mo_schedule *schedule = NULL;
    mo_status status;

    if (k->selector->searched || !mo_answer_selector_can_search(k->selector))
        return MO_OK;
    k->selector->searched = true;
    status = mo_strengthen_search(r->made.loaded.instance, &r->regime,
                                  mo_known_schedule_objective(k->selector),
                                  SEARCH_SHARE * time_left_s(k), &proven,
                                  &schedule, &k->selector->search_is_full, err);
    if (status == MO_E_INFEASIBLE) {
        k->selector->proven_infeasible = true;
        status = MO_OK;
    } else if (status == MO_OK) {
        mo_answer_selector_add_bound(k->selector, proven->lower_ns, "search");
        if (schedule)
            mo_known_schedule_take(k->selector, schedule, "search");
        status = mo_known_schedule_enter(k->selector, k->folder, k->portfolio,
                                         k->selection, err);
    }
    mo_proven_bounds_free(proven);
    if (status == MO_OK)
        select_again(k);
    return status;
}

static mo_status write_start(const check *k, const char *path, mo_error *err)
{
    const mo_solution *s = k->selection->best->outcome.solution;
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
static mo_status run_solver(check *k, const mo_solver *solver,
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
    options.time_s = time_left_s(k);
    status = mo_portfolio_find_solvers(&options, &quiet, &found, err);
    if (status == MO_OK) {
        mo_driver_log_info(k->selector->logger,
                           "cross-check by %s, at most %.1f s", solver->title,
                           time_left_s(k));
        status = mo_portfolio_run(
            &options, k->model, k->selector->review.origin.unit_ns, k->folder,
            &quiet, mo_answer_selector_on_answer, k->selector, &found, err);
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
static bool has_claim(const check *k, const mo_solver *solver)
{
    const mo_portfolio *c = k->portfolio;

    for (int i = 0; i < c->n; i++)
        if (c->entries[i].solver == solver && c->entries[i].status == MO_OK &&
            (c->entries[i].outcome.claim == MO_SOLUTION_STATUS_OPTIMAL ||
             c->entries[i].outcome.claim == MO_SOLUTION_STATUS_INFEASIBLE))
            return true;
    return false;
}

static mo_status run_solvers(check *k, mo_error *err)
{
    char *start = NULL;
    mo_status status = MO_OK;

    if (k->selection->best) {
        start = mo_workdir_file(k->folder, "claim.sol");
        status = start ? write_start(k, start, err) : mo_fail_memory(err);
    }
    for (int i = 0; mo_solver_table[i] && status == MO_OK && goes_on(k); i++)
        if (!has_claim(k, mo_solver_table[i]))
            status = run_solver(k, mo_solver_table[i], start, err);
    free(start);
    return status;
}

mo_status mo_cross_check(const mo_portfolio_options *options, const char *model,
                         const mo_workdir *folder, double left_s,
                         mo_answer_selector *selector, mo_portfolio *c,
                         mo_answer_selection *selection, mo_error *err)
{
    check k = { .options = options,
                .model = model,
                .folder = folder,
                .selector = selector,
                .portfolio = c,
                .selection = selection,
                .begin_s = mo_driver_clock_s(),
                .limit_s = options->cross_check_s };
    mo_status status;

    if (options->cross_check_s < 0)
        k.limit_s = fmin(fmax(c->seconds, DEFAULT_LEAST_S), DEFAULT_MOST_S);
    if (left_s > 0)
        k.limit_s = fmin(k.limit_s, left_s);
    if (!goes_on(&k))
        return MO_OK;
    status = run_search(&k, err);
    if (status == MO_OK && goes_on(&k))
        status = run_solvers(&k, err);
    c->cross_check_s = mo_driver_clock_s() - k.begin_s;
    return status;
}
