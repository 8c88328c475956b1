/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "driver/select_answer.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "models/formulation.h"
#include "schedule/heuristic/upper_bound.h"

/* Default relative gap at which solvers report an optimal solution. */
#define OWN_GAP 1e-4

static void look_for_instance(mo_answer_selector *j)
{
    const mo_review_files files = { .graph = j->graph,
                                    .beside = j->beside,
                                    .also = j->output };
    mo_status status =
        mo_review_instance(j->options, &files, j->logger, &j->review, &j->why);

    j->state = status == MO_OK ? MO_ANSWER_SELECTOR_READY
                               : MO_ANSWER_SELECTOR_NO_INSTANCE;
}

/* The model's own provenance takes precedence: it never was with the solver. */
static bool take_origin(mo_answer_selector *j, const mo_solution *solution)
{
    mo_provenance *origin = &j->review.origin;

    if (origin->has_graph)
        return true;
    if (mo_answer_provenance(solution, origin, &j->why) == MO_OK)
        return true;
    j->state = MO_ANSWER_SELECTOR_NO_INSTANCE;
    return false;
}

/* A MIP start may use another time unit than the model. */
static mo_provenance origin_of(const mo_answer_selector *j,
                               const mo_portfolio_member *e)
{
    mo_provenance origin = j->review.origin, own;

    if (e->is_start &&
        mo_answer_provenance(e->outcome.solution, &own, NULL) == MO_OK &&
        own.has_unit)
        origin.unit_ns = own.unit_ns;
    return origin;
}

bool mo_answer_selector_on_answer(void *context, mo_portfolio_member *e)
{
    mo_answer_selector *j = context;

    if (e->status != MO_OK)
        return false;
    mo_driver_log_info(j->logger, "%s: %s", mo_portfolio_member_title(e),
                       e->outcome.text);
    if (!e->outcome.solution || e->outcome.solution->n == 0)
        return false;
    if (take_origin(j, e->outcome.solution) &&
        j->state == MO_ANSWER_SELECTOR_NO_INSTANCE_YET)
        look_for_instance(j);
    if (j->state == MO_ANSWER_SELECTOR_READY) {
        const mo_review *r = &j->review;
        const mo_provenance origin = origin_of(j, e);

        e->judged =
            mo_answer_evaluate_solution(
                e->outcome.solution, &origin, r->made.loaded.instance,
                &r->regime, j->tolerance, &e->judgement, &e->err) == MO_OK;
        if (!e->judged)
            mo_driver_log_info(j->logger, "%s could not be judged: %s",
                               mo_portfolio_member_title(e), e->err.text);
    }
    return e->outcome.claim == MO_SOLUTION_STATUS_OPTIMAL &&
           (!e->judged || mo_answer_evaluation_valid(&e->judgement));
}

static double unit_us(const mo_answer_selector *j)
{
    const mo_provenance *origin = &j->review.origin;

    return origin->has_unit ? (double) origin->unit_ns / 1000 : 1;
}

static double claimed_us(const mo_portfolio_member *e)
{
    const mo_solution *s = e->outcome.solution;

    for (int i = 0; i < s->n && !s->has_objective; i++)
        if (s->values[i].name && strcmp(s->values[i].name, "w") == 0)
            return s->values[i].value;
    return s->objective;
}

double mo_answer_selector_makespan_us(const mo_answer_selector *j,
                                      const mo_portfolio_member *e)
{
    if (e->judged && e->judgement.schedule)
        return (double) e->judgement.schedule->makespan_ns / 1000;
    /* Rounded to ns: a claim of 9510 units of 10 ns is 95.1 us. */
    return round(claimed_us(e) * unit_us(j) * 1000) / 1000;
}

static bool has_answer(const mo_portfolio_member *e)
{
    return e->ended && e->status == MO_OK && e->outcome.solution &&
           e->outcome.solution->n > 0;
}

/* With live memory a model may exclude valid schedules. */
static bool may_refuse(const mo_answer_selector *j)
{
    return j->state == MO_ANSWER_SELECTOR_READY &&
           j->review.regime.memory == MO_MEMORY_LIVE;
}

/* Whether the model admits exactly the schedules of the instance; those of the
 * baselines admit more or fewer. */
static bool is_whole(const mo_answer_selector *j)
{
    const mo_provenance *o = &j->review.origin;

    return j->state == MO_ANSWER_SELECTOR_READY && !may_refuse(j) &&
           o->has_options &&
           (strcmp(o->formulation, mo_formulation_compact.name) == 0 ||
            strcmp(o->formulation, mo_formulation_paper.name) == 0);
}

/* Computes the makespan of a heuristic schedule. */
static bool find_upper(mo_answer_selector *j)
{
    const mo_review *r = &j->review;
    mo_schedule *schedule = NULL;
    int64_t bound_ns;

    if (!is_whole(j))
        return false;
    if (!j->tried_upper &&
        mo_bound_upper(r->made.loaded.instance, &r->regime, &schedule,
                       &bound_ns, NULL) == MO_OK &&
        schedule) {
        j->has_upper = true;
        j->upper_ns = schedule->makespan_ns;
    }
    j->tried_upper = true;
    mo_schedule_free(schedule);
    return j->has_upper;
}

/* Returns the solver's dual bound in microseconds; negative: none. */
static double bound_us(const mo_answer_selector *j,
                       const mo_portfolio_member *e)
{
    if (e->status != MO_OK || !e->outcome.has_bound || !is_whole(j))
        return -1;
    return e->outcome.bound * unit_us(j);
}

/* Whether us exceeds other_us by more than the tolerances explain. */
static bool is_above(const mo_answer_selector *j, double us, double other_us)
{
    return us >
           other_us * (1 + MO_ANSWER_CLAIM_TOLERANCE(j->tolerance)) + 0.001;
}

static void find_bound(const mo_answer_selector *j, const mo_portfolio *c,
                       mo_answer_selection *selection)
{
    double most_us, makespan_us;

    if (!selection->best || !selection->best->judged)
        return;
    makespan_us = mo_answer_selector_makespan_us(j, selection->best);
    selection->bound_ns = selection->best->judgement.lower.bound_ns;
    selection->bound_by = selection->best->judgement.lower.which;
    most_us = (double) selection->bound_ns / 1000;
    for (int i = 0; i < c->n; i++) {
        double us = bound_us(j, &c->entries[i]);

        if (us <= most_us || is_above(j, us, makespan_us))
            continue;
        most_us = us < makespan_us ? us : makespan_us;
        selection->bound_ns = (int64_t) (most_us * 1000);
        selection->bound_by = mo_portfolio_member_title(&c->entries[i]);
    }
}

static void note_contradiction(mo_answer_selection *selection,
                               const char *format, ...) MO_PRINTF(2, 3);

/* Only the first contradiction is kept. */
static void note_contradiction(mo_answer_selection *selection,
                               const char *format, ...)
{
    va_list args;

    if (selection->doubt[0])
        return;
    va_start(args, format);
    vsnprintf(selection->doubt, sizeof selection->doubt, format, args);
    va_end(args);
}

/* Returns the smallest makespan known from other sources, in microseconds;
 * negative: none. */
static double known_us(mo_answer_selector *j,
                       const mo_answer_selection *selection)
{
    double best_us = selection->best
                         ? mo_answer_selector_makespan_us(j, selection->best)
                         : -1;
    double upper_us = find_upper(j) ? (double) j->upper_ns / 1000 : -1;

    if (best_us < 0 || upper_us < 0)
        return best_us < 0 ? upper_us : best_us;
    return best_us < upper_us ? best_us : upper_us;
}

/* Returns the smallest value claimed optimal by a member. The claimed
 * objective counts besides the schedule rebuilt from it: where the model
 * admits every schedule, none can be shorter than a proven optimum. */
static double least_us(const mo_answer_selector *j,
                       const mo_portfolio_member *e)
{
    double us;

    if (!has_answer(e) || j->gap > OWN_GAP)
        return bound_us(j, e);
    us = mo_answer_selector_makespan_us(j, e);
    if (is_whole(j) && j->review.origin.has_unit)
        us = fmax(us, claimed_us(e) * unit_us(j));
    return us;
}

/* Looks for a contradiction in the member's claim. */
static void find_doubt(mo_answer_selector *j, const mo_portfolio_member *e,
                       mo_answer_selection *selection)
{
    mo_solution_status claim =
        e->status == MO_OK ? e->outcome.claim : MO_SOLUTION_STATUS_UNKNOWN;
    double known, least;

    if ((claim != MO_SOLUTION_STATUS_INFEASIBLE &&
         claim != MO_SOLUTION_STATUS_OPTIMAL) ||
        may_refuse(j))
        return;
    known = known_us(j, selection);
    if (known < 0)
        return;
    if (claim == MO_SOLUTION_STATUS_INFEASIBLE) {
        note_contradiction(
            selection,
            "%s says there is no answer, but one of %.3f us is known",
            mo_portfolio_member_title(e), known);
        return;
    }
    least = least_us(j, e);
    if (is_above(j, least, known * (1 + OWN_GAP)))
        note_contradiction(
            selection,
            "%s says that %.3f us is the least, but %.3f us is known",
            mo_portfolio_member_title(e), least, known);
}

static bool claims_optimal(const mo_answer_selector *j,
                           const mo_portfolio_member *e,
                           const mo_answer_selection *selection)
{
    double best_us = mo_answer_selector_makespan_us(j, selection->best);
    double gap =
        best_us > 0 ? 1 - (double) selection->bound_ns / 1000 / best_us : 0;

    if (!has_answer(e) || e->outcome.claim != MO_SOLUTION_STATUS_OPTIMAL ||
        (j->state == MO_ANSWER_SELECTOR_READY && !is_whole(j)) ||
        is_above(j, mo_answer_selector_makespan_us(j, e), best_us))
        return false;
    return j->gap <= OWN_GAP || (selection->bound_by && gap <= OWN_GAP);
}

static const char *status_of(const mo_answer_selector *j, const mo_portfolio *c,
                             const mo_answer_selection *selection)
{
    bool infeasible = false, optimal = false;

    for (int i = 0; i < c->n; i++) {
        const mo_portfolio_member *e = &c->entries[i];

        infeasible |= e->ended && e->status == MO_OK &&
                      e->outcome.claim == MO_SOLUTION_STATUS_INFEASIBLE;
        if (selection->best)
            optimal |= claims_optimal(j, e, selection);
    }
    if (!selection->best)
        return infeasible && !selection->doubt[0] ? "infeasible" : "limit";
    if (selection->best->judged &&
        selection->bound_ns >= selection->best->judgement.schedule->makespan_ns)
        return "optimal";
    return optimal && !selection->doubt[0] ? "optimal" : "feasible";
}

void mo_answer_selector_select(mo_answer_selector *j, mo_portfolio *c,
                               mo_answer_selection *selection)
{
    *selection = (mo_answer_selection){ 0 };
    if (j->state == MO_ANSWER_SELECTOR_NO_INSTANCE_YET &&
        j->review.origin.has_graph)
        look_for_instance(j);
    for (int i = 0; i < c->n; i++) {
        mo_portfolio_member *e = &c->entries[i];

        if (has_answer(e) &&
            (j->state != MO_ANSWER_SELECTOR_READY ||
             (e->judged && mo_answer_evaluation_valid(&e->judgement)))) {
            if (!selection->best ||
                mo_answer_selector_makespan_us(j, e) <
                    mo_answer_selector_makespan_us(j, selection->best))
                selection->best = e;
        } else if (has_answer(e) && e->judged && !selection->broken) {
            selection->broken = e;
        }
    }
    find_bound(j, c, selection);
    for (int i = 0; i < c->n; i++)
        find_doubt(j, &c->entries[i], selection);
    if (selection->broken && !selection->best)
        note_contradiction(
            selection, "%s gave an answer that does not hold: %.300s",
            mo_portfolio_member_title(selection->broken),
            mo_answer_evaluation_violation(&selection->broken->judgement, 0));
    selection->status = status_of(j, c, selection);
}

void mo_answer_selector_clear(mo_answer_selector *j)
{
    mo_review_clear(&j->review);
}
