/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "driver/select_answer.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "driver/evaluate_answer.h"
#include "driver/raise_bound.h"
#include "driver/known_schedule.h"
#include "models/formulation.h"

static double unit_us(const mo_answer_selector *j)
{
    const mo_provenance *origin = &j->review.origin;

    return origin->unit_ns > 0 ? (double) origin->unit_ns / 1000 : 1;
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
    if (e->evaluated && e->evaluation.schedule)
        return (double) mo_answer_evaluation_objective_ns(&e->evaluation) /
               1000;
    /* Rounded to ns: a claim of 9510 units of 10 ns is 95.1 us. */
    return round(claimed_us(e) * unit_us(j) * 1000) / 1000;
}

/* An infinite objective is that of no solution. */
static bool has_answer(const mo_portfolio_member *e)
{
    return e->ended && e->status == MO_OK && e->outcome.solution &&
           e->outcome.solution->n > 0 &&
           (e->evaluated || isfinite(claimed_us(e)));
}

/* With live memory a model may exclude valid schedules. */
static bool may_refuse(const mo_answer_selector *j)
{
    return j->state == MO_ANSWER_SELECTOR_READY &&
           j->review.regime.memory == MO_MEMORY_LIVE;
}

bool mo_answer_selector_can_search(const mo_answer_selector *j)
{
    const mo_provenance *o = &j->review.origin;

    return j->state == MO_ANSWER_SELECTOR_READY && o->has_options &&
           (strcmp(o->formulation, mo_formulation_compact.name) == 0 ||
            strcmp(o->formulation, mo_formulation_paper.name) == 0 ||
            (strcmp(o->formulation, mo_formulation_period.name) == 0 &&
             o->in_flight == 0));
}

/* Whether the model admits exactly the schedules of the instance; those of the
 * baselines admit more or fewer. */
bool mo_answer_selector_is_exact(const mo_answer_selector *j)
{
    return mo_answer_selector_can_search(j) && !may_refuse(j);
}

/* Whether the optimum of the model is a bound: it admits every schedule.  That
 * of the period with a limit in flight admits more. */
static bool is_relaxation(const mo_answer_selector *j)
{
    const mo_provenance *o = &j->review.origin;

    return mo_answer_selector_is_exact(j) ||
           (j->state == MO_ANSWER_SELECTOR_READY && o->has_options &&
            strcmp(o->formulation, mo_formulation_period.name) == 0);
}

bool mo_answer_selector_can_refute(const mo_answer_selector *j)
{
    /* Whether rows of the user may exclude schedules: the model has room for
     * them, and is not as it was emitted. */
    return mo_answer_selector_is_exact(j) &&
           !(j->review.origin.has_slack && !j->is_emitted);
}

void mo_answer_selector_add_bound(mo_answer_selector *j, int64_t bound_ns,
                                  const char *by)
{
    if (j->n_own < MO_ANSWER_SELECTOR_BOUNDS)
        j->own[j->n_own++] =
            (mo_answer_bound){ bound_ns, by, .recomputed = true };
}

/* The certificate of the model proves a bound once the instance is known; one
 * that is of another proves none. */
static void take_proof(mo_answer_selector *j)
{
    mo_review *r = &j->review;
    /* Models of the period have none. */
    const mo_proof_scope scope = { r->problem.instance, r->regime,
                                   MO_OBJECTIVE_LATENCY, 0 };
    mo_error ignored = { 0 };

    if (j->state != MO_ANSWER_SELECTOR_READY || !r->proof || j->took_proof)
        return;
    j->took_proof = true;
    if (mo_certificate_verify(&scope, INT64_MAX, r->proof, j->logger,
                              &r->proven, &ignored) == MO_OK &&
        r->proven.bound_ns > 0)
        mo_answer_selector_add_bound(j, r->proven.bound_ns,
                                     MO_REPORT_PROOF_NAME);
}

/* Whether us exceeds other_us by more than the tolerances explain. */
static bool is_above(const mo_answer_selector *j, double us, double other_us)
{
    return us > other_us +
                    MO_ANSWER_CLAIM_TOLERANCE(j->tolerance) * fabs(other_us) +
                    0.001;
}

/* Whether a bound proves us optimal. */
static bool meets(double bound_us, double us)
{
    return bound_us >= us - MO_ANSWER_OPTIMAL_GAP * fabs(us);
}

/* Whether a schedule computed here is shorter than the member's answer. */
static bool is_beaten(mo_answer_selector *j, const mo_portfolio_member *e)
{
    return mo_known_schedule_find(j) &&
           is_above(j, mo_answer_selector_makespan_us(j, e),
                    (double) j->known_ns / 1000 * (1 + MO_ANSWER_OPTIMAL_GAP));
}

static bool is_trusted(const mo_answer_selector *j,
                       const mo_portfolio_member *e)
{
    for (int i = 0; i < j->n_distrusted; i++)
        if (j->distrusted[i] == e->solver)
            return false;
    return true;
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
    mo_answer_selector_evaluate(j, e);
    return e->outcome.claim == MO_SOLUTION_STATUS_OPTIMAL && is_trusted(j, e) &&
           (!e->evaluated ||
            (mo_answer_evaluation_valid(&e->evaluation) && !is_beaten(j, e)));
}

/* Returns the smallest makespan known, in microseconds; negative: none. */
static double known_us(mo_answer_selector *j,
                       const mo_answer_selection *selection)
{
    double best_us = selection->best
                         ? mo_answer_selector_makespan_us(j, selection->best)
                         : -1;
    double known = mo_known_schedule_find(j) ? (double) j->known_ns / 1000 : -1;

    if (best_us < 0 || known < 0)
        return best_us < 0 ? known : best_us;
    return fmin(best_us, known);
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

static bool claims(const mo_portfolio_member *e, mo_solution_status claim)
{
    return e->ended && e->status == MO_OK && e->outcome.claim == claim;
}

/* Returns the bound that the solver claims in microseconds; negative: none. */
static double claimed_bound_us(const mo_answer_selector *j,
                               const mo_portfolio_member *e)
{
    if (!e->ended || e->status != MO_OK || !e->outcome.has_bound ||
        !isfinite(e->outcome.bound) || !is_relaxation(j))
        return -1;
    return e->outcome.bound * unit_us(j);
}

/* Returns the smallest value claimed optimal by a member. The claimed
 * objective counts besides the schedule rebuilt from it: where the model
 * admits every schedule, none can be shorter than a proven optimum. */
static double least_us(const mo_answer_selector *j,
                       const mo_portfolio_member *e)
{
    double us;

    if (!has_answer(e) || j->gap > MO_ANSWER_OPTIMAL_GAP)
        return claimed_bound_us(j, e);
    us = mo_answer_selector_makespan_us(j, e);
    if (mo_answer_selector_can_refute(j) && j->review.origin.unit_ns > 0)
        us = fmax(us, claimed_us(e) * unit_us(j));
    return us;
}

/* Whether the member claims an answer that it did not give, or gave one that is
 * invalid. */
static bool contradicts_itself(const mo_portfolio_member *e,
                               mo_answer_selection *selection)
{
    const char *title = mo_portfolio_member_title(e);

    if (has_answer(e) && e->evaluated &&
        !mo_answer_evaluation_valid(&e->evaluation)) {
        if (!selection->best)
            note_contradiction(
                selection, "%s gave an answer that does not hold: %.300s",
                title, mo_answer_evaluation_violation(&e->evaluation, 0));
        return true;
    }
    if (!claims(e, MO_SOLUTION_STATUS_OPTIMAL) || has_answer(e))
        return false;
    note_contradiction(selection,
                       "%s claims an optimal solution, but gave none", title);
    return true;
}

/* Whether a claim of the member contradicts a known schedule of that makespan
 * (negative: none). Models that are not exact may exclude that schedule. */
static bool contradicts_known(const mo_answer_selector *j,
                              const mo_portfolio_member *e, double known,
                              mo_answer_selection *selection)
{
    const char *title = mo_portfolio_member_title(e);
    bool comparable =
        mo_answer_selector_is_exact(j) || j->state != MO_ANSWER_SELECTOR_READY;
    double us;

    if (known < 0 || may_refuse(j))
        return false;
    if (claims(e, MO_SOLUTION_STATUS_INFEASIBLE) ||
        claims(e, MO_SOLUTION_STATUS_UNBOUNDED)) {
        note_contradiction(
            selection, "%s claims that the model is %s, but %.3f us is known",
            title, mo_solution_status_names[e->outcome.claim], known);
        return true;
    }
    us = claims(e, MO_SOLUTION_STATUS_OPTIMAL) ? least_us(j, e) : -1;
    if (comparable &&
        is_above(j, us, known + MO_ANSWER_OPTIMAL_GAP * fabs(known))) {
        note_contradiction(
            selection,
            "%s claims that %.3f us is optimal, but %.3f us is known", title,
            us, known);
        return true;
    }
    us = claimed_bound_us(j, e);
    if (!is_above(j, us, known))
        return false;
    note_contradiction(
        selection,
        "%s claims a bound of %.3f us, but %.3f us is known; the "
        "bound is not taken",
        title, us, known);
    return true;
}

static void take_bound(mo_answer_selection *selection,
                       const mo_answer_bound *bound)
{
    mo_answer_bound *own = &selection->own, *all = &selection->bound;

    if (bound->recomputed && (!own->by || bound->bound_ns > own->bound_ns))
        *own = *bound;
    if (!all->by || bound->bound_ns > all->bound_ns)
        *all = *bound;
}

/* No bound is above a known schedule, those computed here included. */
static void take_own_bound(const mo_answer_selector *j, double known,
                           const mo_answer_bound *bound,
                           mo_answer_selection *selection)
{
    if (is_above(j, (double) bound->bound_ns / 1000, known))
        note_contradiction(selection,
                           "the bound of %.3f us (%s) is above a schedule of "
                           "%.3f us and not taken; this is a defect of Moirai",
                           (double) bound->bound_ns / 1000, bound->by, known);
    else
        take_bound(selection, bound);
}

static void find_bounds(mo_answer_selector *j, const mo_portfolio *c,
                        mo_answer_selection *selection)
{
    const mo_answer_evaluation *best;
    mo_answer_bound basic;
    double known = known_us(j, selection);

    if (!selection->best || !selection->best->evaluated)
        return;
    best = &selection->best->evaluation;
    basic = (mo_answer_bound){ best->lower.bound_ns, best->lower.which,
                               .recomputed = true };
    take_own_bound(j, known, &basic, selection);
    for (int i = 0; i < j->n_own; i++)
        take_own_bound(j, known, &j->own[i], selection);
    for (int i = 0; i < c->n; i++) {
        const mo_portfolio_member *e = &c->entries[i];
        double us = fmin(claimed_bound_us(j, e), known);
        const mo_answer_bound claimed = { (int64_t) (us * 1000),
                                          mo_portfolio_member_title(e),
                                          .recomputed = false };

        if (us > 0 && !e->is_start && is_trusted(j, e))
            take_bound(selection, &claimed);
    }
}

/* Whether the member claims that the best answer, within tolerances, is
 * optimal. */
static bool claims_best(const mo_answer_selector *j,
                        const mo_portfolio_member *e,
                        const mo_answer_selection *selection)
{
    double best_us = mo_answer_selector_makespan_us(j, selection->best);

    if (!has_answer(e) || !claims(e, MO_SOLUTION_STATUS_OPTIMAL) ||
        (j->state == MO_ANSWER_SELECTOR_READY && !is_relaxation(j)) ||
        is_above(j, mo_answer_selector_makespan_us(j, e), best_us))
        return false;
    return (j->gap <= MO_ANSWER_OPTIMAL_GAP &&
            (j->state != MO_ANSWER_SELECTOR_READY ||
             mo_answer_selector_is_exact(j))) ||
           meets(claimed_bound_us(j, e), best_us);
}

/* Returns the file that was run, or NULL. */
static const char *file_of(const mo_portfolio_member *e)
{
    return e->way == MO_SOLVER_VIA_LIBRARY ? e->found.library
                                           : e->found.program;
}

/* Whether a claim of e confirms that of first: no solver confirms itself, nor
 * does one program under two names. */
static bool confirms(const mo_portfolio_member *e,
                     const mo_portfolio_member *first)
{
    const char *file = file_of(e), *other = file_of(first);

    return e->solver != first->solver &&
           !(file && other && strcmp(file, other) == 0);
}

/* Whether a second opinion can confirm a claim about the best answer, or that
 * there is none: the latter only the search, where the model may refuse
 * schedules. */
static bool can_confirm(const mo_answer_selector *j,
                        const mo_answer_selection *selection)
{
    return selection->best || j->state != MO_ANSWER_SELECTOR_READY ||
           mo_answer_selector_is_exact(j) ||
           (mo_answer_selector_can_search(j) && !j->searched);
}

/* Two solvers that agree confirm each other where a full search has not refuted
 * them, or none can. */
static void count_claims(const mo_answer_selector *j, const mo_portfolio *c,
                         mo_answer_selection *selection)
{
    const mo_portfolio_member *first = NULL, *second = NULL;

    for (int i = 0; i < c->n; i++) {
        const mo_portfolio_member *e = &c->entries[i];
        bool claim = selection->best ? claims_best(j, e, selection)
                                     : claims(e, MO_SOLUTION_STATUS_INFEASIBLE);

        if (!claim || e->is_start)
            continue;
        selection->open_claim |= can_confirm(j, selection);
        if (!is_trusted(j, e))
            continue;
        if (!first)
            first = e;
        else if (!second && confirms(e, first))
            second = e;
    }
    if (!first)
        return;
    if (second && (j->search_is_full || !mo_answer_selector_can_refute(j))) {
        selection->confirmed_by = mo_portfolio_member_title(second);
        second = NULL;
    } else if (second) {
        selection->open_claim = !j->searched;
    }
    snprintf(selection->claimed_by, sizeof selection->claimed_by,
             "%.25s%s%.25s", mo_portfolio_member_title(first),
             second ? " and " : "",
             second ? mo_portfolio_member_title(second) : "");
}

/* Solvers that agree have a proof for the model that they were given. It holds
 * for the instance if that is the model that was emitted. */
static const char *infeasible_status(const mo_answer_selector *j,
                                     mo_answer_selection *selection)
{
    if (j->proven_infeasible) {
        selection->confirmed_by = "search";
        return "infeasible";
    }
    if (!selection->claimed_by[0])
        return "limit";
    if (j->state == MO_ANSWER_SELECTOR_READY && !mo_answer_selector_is_exact(j))
        selection->confirmed_by = NULL;
    if (!selection->confirmed_by)
        return "claimed_infeasible";
    return j->is_emitted ? "infeasible" : "infeasible_as_given";
}

static void find_best(const mo_answer_selector *j, mo_portfolio *c,
                      mo_answer_selection *selection)
{
    for (int i = 0; i < c->n; i++) {
        mo_portfolio_member *e = &c->entries[i];

        if (has_answer(e) &&
            (j->state != MO_ANSWER_SELECTOR_READY ||
             (e->evaluated && mo_answer_evaluation_valid(&e->evaluation)))) {
            if (!selection->best ||
                mo_answer_selector_makespan_us(j, e) <
                    mo_answer_selector_makespan_us(j, selection->best))
                selection->best = e;
        } else if (has_answer(e) && e->evaluated && !selection->broken) {
            selection->broken = e;
        }
    }
}

void mo_answer_selector_select(mo_answer_selector *j, mo_portfolio *c,
                               mo_answer_selection *selection)
{
    double known;
    const mo_answer_bound *own = &selection->own;
    bool proven;

    *selection = (mo_answer_selection){ 0 };
    if (j->state == MO_ANSWER_SELECTOR_NO_INSTANCE_YET &&
        j->review.origin.has_graph)
        mo_answer_selector_find_instance(j);
    take_proof(j);
    find_best(j, c, selection);
    /* One refuted claim is enough for all others of that solver. */
    known = known_us(j, selection);
    for (int i = 0; i < c->n; i++) {
        const mo_portfolio_member *e = &c->entries[i];
        bool refuted;

        if (!e->ended || e->status != MO_OK || e->is_start)
            continue;
        refuted = contradicts_itself(e, selection);
        if (!refuted && contradicts_known(j, e, known, selection))
            refuted = selection->known_refutes = true;
        if (refuted && is_trusted(j, e) && j->n_distrusted < MO_PORTFOLIO_MAX)
            j->distrusted[j->n_distrusted++] = e->solver;
    }
    find_bounds(j, c, selection);
    count_claims(j, c, selection);
    proven = selection->best && own->by &&
             meets((double) own->bound_ns / 1000,
                   mo_answer_selector_makespan_us(j, selection->best));
    if (proven)
        selection->confirmed_by = own->by;
    if (!selection->best)
        selection->status = infeasible_status(j, selection);
    else if (selection->confirmed_by)
        selection->status =
            proven || j->is_emitted ? "optimal" : "optimal_as_given";
    else
        selection->status =
            selection->claimed_by[0] ? "claimed_optimal" : "feasible";
    if (selection->confirmed_by)
        selection->open_claim = false;
}

void mo_answer_selector_clear(mo_answer_selector *j)
{
    mo_review_clear(&j->review);
    mo_schedule_free(j->known);
}
