/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "driver/evaluate_answer.h"

/* Without memory nothing follows about an answer: it is neither invalid nor
 * to be reported unchecked. */
void mo_answer_selector_note_failure(mo_answer_selector *j, const mo_error *err)
{
    if (err->status == MO_E_MEMORY && j->failure.status == MO_OK)
        j->failure = *err;
}

void mo_answer_selector_find_instance(mo_answer_selector *j)
{
    const mo_review_files files = { .graph = j->graph,
                                    .beside = j->beside,
                                    .also = j->output };
    mo_status status =
        mo_review_instance(j->options, &files, j->logger, &j->review, &j->why);

    j->state = status == MO_OK ? MO_ANSWER_SELECTOR_READY
                               : MO_ANSWER_SELECTOR_NO_INSTANCE;
    if (status != MO_OK)
        mo_answer_selector_note_failure(j, &j->why);
    if (j->origin_of_model)
        j->review.rules = (mo_report_rules){ MO_RULE_MODEL, MO_RULE_MODEL,
                                             MO_RULE_MODEL, j->tolerance };
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
        own.unit_ns > 0)
        origin.unit_ns = own.unit_ns;
    return origin;
}

/* Whether two origins are of the same inputs. Names of files do not count. */
static bool same_inputs(const mo_provenance *a, const mo_provenance *b)
{
    return a->has_graph == b->has_graph && a->graph == b->graph &&
           a->has_cluster == b->has_cluster && a->cluster == b->cluster &&
           a->has_profile == b->has_profile && a->profile == b->profile &&
           a->has_instance == b->has_instance && a->instance == b->instance;
}

/* Returns what is wrong with the identity columns of an answer, or NULL. A
 * solver has to return those of the model, or none; a start may be of another
 * model of the same instance. */
static const char *identity_fault(const mo_answer_selector *j,
                                  const mo_portfolio_member *e)
{
    const mo_provenance *origin = &j->review.origin;
    mo_provenance own;
    const char *fault;

    if (mo_answer_provenance(e->outcome.solution, &own, NULL) != MO_OK)
        return "its identity columns cannot be read";
    fault = own.edited || !j->origin_of_model
                ? mo_review_identity_fault(j->options, &own)
                : NULL;
    if (fault || own.columns.n == 0)
        return fault;
    if (e->is_start && !same_inputs(&own, origin))
        return "it is a solution of another graph, cluster or profile";
    if (e->is_start && own.has_digest)
        return NULL;
    return same_inputs(&own, origin) && own.has_digest == origin->has_digest &&
                   own.digest == origin->digest
               ? NULL
               : "its identity columns are not those of the model";
}

void mo_answer_selector_evaluate(mo_answer_selector *j, mo_portfolio_member *e)
{
    if (take_origin(j, e->outcome.solution) &&
        j->state == MO_ANSWER_SELECTOR_NO_INSTANCE_YET)
        mo_answer_selector_find_instance(j);
    if (j->state == MO_ANSWER_SELECTOR_READY) {
        const mo_review *r = &j->review;
        const mo_provenance origin = origin_of(j, e);
        const char *fault = identity_fault(j, e);
        mo_status status =
            fault ? mo_answer_evaluation_reject(fault, &e->evaluation)
                  : mo_answer_evaluate_solution(
                        e->outcome.solution, &origin, r->problem.instance,
                        &r->regime, j->tolerance, &e->evaluation, &e->err);

        /* Models have one pipeline. */
        if (status == MO_OK && e->evaluation.n_further > 0) {
            mo_answer_evaluation_clear(&e->evaluation);
            status = mo_answer_evaluation_reject(
                "it has several copies of the network, and the model has one",
                &e->evaluation);
        }
        if (status == MO_OK)
            status = mo_answer_evaluation_bound(r->problem.instance,
                                                &e->evaluation, &e->err);
        e->evaluated = status == MO_OK;
        if (!e->evaluated && !fault)
            mo_answer_selector_note_failure(j, &e->err);
        if (!e->evaluated)
            mo_driver_log_info(j->logger, "%s could not be evaluated: %s",
                               mo_portfolio_member_title(e), e->err.text);
    }
}
