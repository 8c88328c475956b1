/* SPDX-License-Identifier: Apache-2.0 */
/*
 * select_answer.h - selection of the best valid answer of a portfolio, and its
 * status.
 *
 * Every answer is timed anew and validated on the instance. Claims are kept
 * apart from what is computed here: a solver with a refuted claim is not
 * trusted for the rest of the run, a bound is never above a known schedule, and
 * a status is claimed until a bound computed here proves it, or a second solver
 * confirms it and the search has not refuted it (solve_model.c).
 */
#ifndef MO_DRIVER_SELECT_ANSWER_H
#define MO_DRIVER_SELECT_ANSWER_H

#include "driver/portfolio.h"
#include "driver/review.h"
#include "driver/log.h"

typedef enum mo_answer_selector_state {
    MO_ANSWER_SELECTOR_NO_INSTANCE_YET, /* not searched for yet */
    MO_ANSWER_SELECTOR_READY,
    MO_ANSWER_SELECTOR_NO_INSTANCE /* not found: answers stay unchecked */
} mo_answer_selector_state;

/* A lower bound of the makespan of all schedules. */
typedef struct mo_answer_bound {
    int64_t bound_ns;
    const char *by;  /* a static string: "load", "search", "HiGHS" */
    bool recomputed; /* computed here; false: the claim of a solver */
} mo_answer_bound;

enum { MO_ANSWER_SELECTOR_BOUNDS = 4 };

typedef struct mo_answer_selector {
    const mo_prepare_options *options;
    const char *graph, *beside; /* as in mo_review_files */
    const char *output;    /* the solution file, beside which inputs may be, or
                              NULL */
    double tolerance, gap; /* gap: the one requested from the solvers */
    const mo_driver_log *logger;
    mo_answer_selector_state state;
    mo_review review; /* origin: of the model, if it records one */
    bool origin_of_model;
    bool took_proof; /* the certificate of review has been verified */
    bool is_emitted;  /* the model is as it was emitted: no row was added,
                         removed or changed (model_file.h) */
    mo_error why;     /* with NO_INSTANCE */
    mo_error failure; /* answers could not be evaluated: memory ran out, or the
                         start could not be read; status MO_OK: none */
    bool tried_heuristic;
    mo_schedule *known;   /* the shortest that is computed here, or NULL */
    int64_t known_ns;     /* its makespan or period, by the objective */
    const char *known_by; /* a static string: "heuristic", "search" */
    mo_answer_bound own[MO_ANSWER_SELECTOR_BOUNDS]; /* computed here */
    int n_own;
    bool searched;       /* own has the bound of a search */
    bool search_is_full; /* that search was not cut short */
    bool proven_infeasible;
    const mo_solver *distrusted[MO_PORTFOLIO_MAX]; /* NULL: the command */
    int n_distrusted;
} mo_answer_selector;

/* Result of a selection. */
typedef struct mo_answer_selection {
    mo_portfolio_member *best; /* NULL: no answer, or no valid one */
    mo_portfolio_member
        *broken;           /* an invalid answer, if there is no valid one */
    const char *status;    /* "optimal", "optimal_as_given", "claimed_optimal",
                              "feasible", "infeasible", "infeasible_as_given",
                              "claimed_infeasible", "limit" */
    mo_answer_bound bound; /* the largest; by is NULL without an instance */
    mo_answer_bound own;   /* the largest that is computed here */
    char claimed_by[64];   /* solvers that claim the status, "HiGHS and SCIP";
                              "": none */
    const char *confirmed_by; /* what confirms it, or NULL */
    bool open_claim;    /* a cross-check could confirm or refute a claim */
    char doubt[512];    /* the contradiction; "": none */
    bool known_refutes; /* a known schedule contradicts a claim, or an answer */
} mo_answer_selection;

/* Relative gap up to which a schedule counts as optimal; the default of the
 * solvers. */
#define MO_ANSWER_OPTIMAL_GAP 1e-4

/* Evaluates the member's answer; returns true if the other members can stop.
 * context is the mo_answer_selector. */
bool mo_answer_selector_on_answer(void *context, mo_portfolio_member *entry);
void mo_answer_selector_select(mo_answer_selector *selector,
                               mo_portfolio *portfolio,
                               mo_answer_selection *selection);

/* Adds a bound that was computed here. by is a static string. */
void mo_answer_selector_add_bound(mo_answer_selector *selector,
                                  int64_t bound_ns, const char *by);

/* Returns whether the model is of an instance that the search can place. */
bool mo_answer_selector_can_search(const mo_answer_selector *selector);

/* Returns whether the model admits exactly the schedules of the instance, so
 * that bounds of the one hold for the other. */
bool mo_answer_selector_is_exact(const mo_answer_selector *selector);

/* Returns whether schedules of the instance refute claims about the model: it
 * is exact, and has no rows of the user that may exclude them. */
bool mo_answer_selector_can_refute(const mo_answer_selector *selector);

/* Returns the makespan of an answer: the recomputed one, or the claim if there
 * is no instance. */
double mo_answer_selector_makespan_us(const mo_answer_selector *selector,
                                      const mo_portfolio_member *entry);

void mo_answer_selector_clear(mo_answer_selector *selector);

#endif
