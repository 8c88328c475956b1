/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "driver/review.h"

#include <stdint.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/reader.h"
#include "driver/raise_bound.h"
#include "models/formulation.h"
#include "schedule/phase_schedule.h"
#include "solvers/answer/placement_list.h"
#include "solvers/registry.h"

void mo_review_clear(mo_review *r)
{
    free(r->phases);
    mo_proof_free(r->proof);
    mo_answer_evaluation_clear(&r->evaluation);
    mo_problem_clear(&r->problem);
    mo_locate_result_clear(&r->located);
}

static mo_status check_places(const mo_provenance *origin, mo_error *err)
{
    if (!origin->has_options ||
        !mo_formulation_of(origin->formulation)->lacks_places)
        return MO_OK;
    return mo_fail(err, MO_E_INPUT,
                   "a solution of %s does not say where ops are: there is "
                   "nothing to check",
                   origin->formulation);
}

/* Rules that are given take precedence over those of the origin. */
static void choose_rules(const mo_prepare_options *given, mo_review *r)
{
    const mo_rule_source other =
        r->origin.has_options ? MO_RULE_SOLUTION : MO_RULE_DEFAULT;

    r->regime = mo_prepare_regime(given);
    r->rules = (mo_report_rules){
        .congestion = given->congestion ? MO_RULE_GIVEN : other,
        .tensors = given->tensors ? MO_RULE_GIVEN : other,
        .memory = given->memory ? MO_RULE_GIVEN : other,
        .tolerance = r->rules.tolerance,
    };
    if (!r->origin.has_options)
        return;
    if (!given->congestion)
        r->regime.congestion = r->origin.regime.congestion;
    if (!given->tensors)
        r->regime.tensors = r->origin.regime.tensors;
    if (!given->memory)
        r->regime.memory = r->origin.regime.memory;
}

const char *mo_review_identity_fault(const mo_prepare_options *options,
                                     const mo_provenance *o)
{
    bool given = options->congestion && options->tensors && options->memory;

    if (o->edited)
        return "the identity columns were edited: they do not fit the digest "
               "in moirai_o_; inputs and rules of this solution are unknown";
    if (o->has_digest || !(o->has_graph || o->has_cluster || o->has_options ||
                           o->has_instance || o->unit_ns > 0))
        return NULL;
    if (!(o->has_graph && o->has_cluster && o->has_instance))
        return "identity columns are missing: the inputs of this solution are "
               "unknown; remove all of them and give --graph";
    return given ? NULL
                 : "the identity columns have no digest: they are those of an "
                   "earlier version, or were edited; give the rules to judge "
                   "by with --congestion, --tensors and --memory";
}

mo_status mo_review_instance(const mo_prepare_options *options,
                             const mo_review_files *files,
                             const mo_driver_log *logger, mo_review *r,
                             mo_error *err)
{
    const mo_locate_query what = {
        .beside = files->beside,
        .also = files->also,
        .graph = files->graph,
        .weights = files->weights,
        .cluster = options->load.cluster,
        .profile = options->load.profile,
        .rules = options->fusion,
        .cost = options->load.cost,
        .read = options->read,
    };
    mo_provenance_texts texts;
    mo_prepare_options p = *options;
    mo_progress step;
    mo_status status = check_places(&r->origin, err);

    mo_driver_log_step(logger, &step, "finding graph and cluster");
    if (status == MO_OK)
        status = mo_locate_inputs(&what, &r->origin, logger, &r->located, err);
    mo_progress_end(&step);
    if (status != MO_OK)
        return status;
    p.load.cluster = r->located.cluster;
    p.load.profile = r->located.profile;
    p.load.cost = r->located.cost;
    if (r->origin.has_instance)
        p.load.formats = r->origin.formats;
    p.fusion = r->located.rules;
    p.read = mo_locate_read_options(&what, &r->origin, &texts);
    choose_rules(options, r);
    p.memory = mo_memory_names[r->regime.memory];
    mo_driver_log_info(logger, "the graph is %s", r->located.graph);
    status = mo_driver_load_check(&p.load, r->located.graph, err);
    if (status == MO_OK)
        status =
            mo_prepare_instance(&p, r->located.graph, logger, &r->problem, err);
    /* The lists are borrowed from this function. */
    r->problem.made_of.read = (mo_read_options){ 0 };
    if (status == MO_OK)
        status =
            mo_locate_verify_digests(&r->origin, &r->located, &r->problem, err);
    return status;
}

mo_report_verdict mo_review_report(const mo_review *r)
{
    return (mo_report_verdict){
        .graph = r->located.graph,
        .cluster = r->problem.cluster->file,
        .ops = r->problem.fine->n_ops,
        .edges = r->problem.fine->n_edges,
        .x = r->problem.instance,
        .regime = &r->regime,
        .rules = &r->rules,
        .formulation = r->origin.has_options ? r->origin.formulation : NULL,
        .evaluation = &r->evaluation,
        .claim = &r->claim,
        .bound_ns = r->evaluation.lower.bound_ns,
        .bound_by = r->evaluation.lower.which,
        .proof = &r->proven,
        .seconds = -1,
        .phases = r->phases,
        .n_phases = r->n_phases,
    };
}

/* Evaluates a list of the ops that --fusion leaves of the graph. Fails with
 * MO_E_SYNTAX for a name that is none of them. Keeps text. */
static mo_status evaluate_fused_listing(const mo_review_source *from,
                                        const char *fusion, const char *path,
                                        const char *text, size_t size,
                                        mo_review *review, mo_error *err)
{
    mo_prepare_options p = *from->prepare;
    char *copy;
    const mo_review_files files = { .graph = from->graph,
                                    .beside = path,
                                    .weights = from->weights };
    const mo_instance *x;
    int *device;
    mo_error why = { 0 };
    mo_status status;

    p.fusion = fusion;
    status = mo_review_instance(&p, &files, from->logger, review, err);
    if (status != MO_OK)
        return status;
    x = review->problem.instance;
    device = calloc((size_t) x->n + 1, sizeof *device);
    copy = malloc(size + 1);
    status = device && copy ? MO_OK : mo_fail_memory(&why);
    if (status == MO_OK) {
        memcpy(copy, text, size + 1);
        status = mo_placement_list_read(path, copy, size, x, device, &why);
    }
    if (status == MO_OK)
        status = mo_answer_evaluate_placement(x, &review->regime, device,
                                              &review->evaluation, &why);
    else if (status == MO_E_INPUT)
        status = mo_answer_evaluation_reject(why.text, &review->evaluation);
    if (status != MO_OK)
        *err = why;
    free(copy);
    free(device);
    return status;
}

/* Without --fusion the list is of the ops that the commands place by default or
 * of those of the graph itself: the error is that of the attempt which got
 * further. */
static mo_status evaluate_listing(const mo_review_source *from,
                                  const char *path, const char *text,
                                  size_t size, mo_review *review, mo_error *err)
{
    const char *given = from->prepare->fusion;
    mo_error why = { 0 };
    mo_status status;

    if (!from->graph)
        return mo_fail_at(err, MO_E_USAGE, path, 0,
                          "is a placement, which does not say of what; give "
                          "the graph with --graph");
    status = evaluate_fused_listing(from, given ? given : "default", path, text,
                                    size, review, &why);
    if (status == MO_E_SYNTAX && !given) {
        mo_review again = { .rules = review->rules };

        mo_review_clear(review);
        *review = again;
        status =
            evaluate_fused_listing(from, "none", path, text, size, review, err);
        if (status != MO_E_SYNTAX || err->line >= why.line)
            return status;
    }
    if (status != MO_OK)
        *err = why;
    return status;
}

/* The status and bound in the file, or in its comments. Those of moirai-solve
 * are about a file with identity columns: without any it was cut or edited. */
mo_report_claim mo_review_claim(const mo_solution *s,
                                const mo_provenance *origin)
{
    bool noted = s->claim == MO_SOLUTION_STATUS_UNKNOWN;
    const mo_solver *solver = mo_solver_by_name(s->layout);
    double bound_ns =
        (noted ? s->note.bound : s->bound) * (double) origin->unit_ns;
    mo_report_claim claim = { .status = noted ? s->note.status : s->claim };

    if (noted && origin->columns.n == 0)
        return (mo_report_claim){ .status = MO_SOLUTION_STATUS_UNKNOWN };
    if (noted)
        snprintf(claim.by, sizeof claim.by, "%s", s->note.by);
    else if (solver)
        snprintf(claim.by, sizeof claim.by, "%.31s", solver->title);
    claim.has_bound = (noted ? s->note.has_bound : s->has_bound) &&
                      origin->unit_ns > 0 && bound_ns >= 0 &&
                      bound_ns <= (double) MO_MAX_TOTAL_NS;
    if (claim.has_bound)
        claim.bound_ns = (int64_t) llround(bound_ns);
    return claim;
}

static mo_status evaluate_columns(const mo_review_source *from,
                                  const char *path, const char *text,
                                  size_t size, mo_review *review, mo_error *err)
{
    const mo_review_files files = { .graph = from->graph,
                                    .beside = path,
                                    .weights = from->weights };
    const char *fault = NULL;
    mo_solution *solution = NULL;
    mo_progress step;
    mo_status status =
        mo_solution_read_memory(path, text, size, &solution, err);

    if (status == MO_OK && solution->n <= 0)
        status = mo_fail_at(err, MO_E_INFEASIBLE, path, 0,
                            "holds no solution to check; it says: %s",
                            mo_solution_status_names[solution->claim]);
    if (status == MO_OK) {
        status = mo_answer_provenance(solution, &review->origin, err);
        if (status != MO_OK)
            mo_error_set_location(err, path, 0);
        fault = mo_review_identity_fault(from->prepare, &review->origin);
    }
    if (status == MO_OK)
        status = mo_review_instance(from->prepare, &files, from->logger, review,
                                    err);
    mo_driver_log_step(from->logger, &step, "checking");
    if (status == MO_OK)
        status = mo_answer_evaluate_solution(
            solution, &review->origin, review->problem.instance,
            &review->regime, from->tolerance, &review->evaluation, err);
    mo_progress_end(&step);
    if (status == MO_OK && fault)
        snprintf(review->evaluation.first_error,
                 sizeof review->evaluation.first_error, "%s", fault);
    if (status == MO_OK)
        review->claim = mo_review_claim(solution, &review->origin);
    mo_solution_free(solution);
    return status;
}

/* Fails for a byte that no text has: a graph or bundle whose first bytes are
 * damaged is nothing else. */
static mo_status check_is_text(const char *name, const char *text, size_t size,
                               mo_error *err)
{
    for (size_t i = 0; i < size; i++)
        if ((unsigned char) text[i] < ' ' && !memchr("\t\n\v\f\r", text[i], 5))
            return mo_fail_at(err, MO_E_SYNTAX, name, 0,
                              "is no graph, bundle or solution: byte %zu is "
                              "not part of a text; the file may be damaged or "
                              "cut off",
                              i);
    return MO_OK;
}

mo_proof_scope mo_review_scope(const mo_review *r)
{
    return (mo_proof_scope){ r->problem.instance, r->regime,
                             r->evaluation.period_ns >= 0
                                 ? MO_OBJECTIVE_PERIOD
                                 : MO_OBJECTIVE_LATENCY,
                             (int) r->origin.in_flight };
}

/* Verifies the certificate in a file; one that cannot be read is a reason. */
static mo_status verify_proof(const mo_driver_log *logger, const char *name,
                              const char *text, size_t size, mo_review *review,
                              mo_error *err)
{
    const mo_answer_evaluation *answer = &review->evaluation;
    mo_report_proof *proven = &review->proven;
    mo_error why = { 0 };
    mo_status status;

    const mo_proof_scope scope = mo_review_scope(review);

    if (!mo_answer_evaluation_valid(answer) || answer->n_further > 0)
        return MO_OK;
    status = mo_proof_read(name, text, size, &review->proof, &why);
    if (status == MO_E_MEMORY)
        return mo_fail_memory(err);
    if (status != MO_OK)
        snprintf(proven->why, sizeof proven->why, "%.80s:%d: %.200s", name,
                 why.line, why.text);
    if (status != MO_OK || !review->proof)
        return MO_OK;
    return mo_certificate_verify(&scope,
                                 mo_answer_evaluation_objective_ns(answer),
                                 review->proof, logger, proven, err);
}

/* Verifies the certificate of the file that is given for it, or of the
 * answer. */
static mo_status find_proof(const mo_review_source *from, const char *name,
                            const char *text, size_t size, mo_review *review,
                            mo_error *err)
{
    char *given = NULL;
    mo_status status;

    if (!from->proof)
        return verify_proof(from->logger, name, text, size, review, err);
    status = mo_reader_all(from->proof, &given, &size, err);
    if (status == MO_OK)
        status =
            verify_proof(from->logger, from->proof, given, size, review, err);
    free(given);
    if (status == MO_OK && !review->proof && !review->proven.why[0] &&
        mo_answer_evaluation_valid(&review->evaluation))
        return mo_fail_at(err, MO_E_INPUT, from->proof, 0,
                          "has no certificate; see moirai-proof(5)");
    return status;
}

/* Sets the bound of a valid answer.  That of copies is part of the
 * evaluation. */
static mo_status find_bound(const mo_review_source *from, mo_review *review,
                            mo_error *err)
{
    mo_answer_evaluation *answer = &review->evaluation;
    const mo_proof_scope scope = mo_review_scope(review);

    if (!mo_answer_evaluation_valid(answer) || answer->n_further > 0)
        return MO_OK;
    return mo_reported_bound_find(
        &scope, mo_answer_evaluation_objective_ns(answer), &review->proven,
        NULL, from->logger, &answer->lower, err);
}

/* Times the phases of a workload, each by itself.  They take no longer than the
 * schedule of them all. */
static mo_status time_phases(mo_review *review, mo_error *err)
{
    const mo_problem *problem = &review->problem;
    const mo_schedule *s = review->evaluation.schedule;
    const mo_phases *phases =
        problem->phases ? mo_problem_placed(problem)->phases : NULL;
    int64_t sum_ns = 0;
    mo_status status = MO_OK;

    if (!phases || !mo_answer_evaluation_valid(&review->evaluation))
        return MO_OK;
    review->phases = calloc((size_t) phases->n, sizeof *review->phases);
    if (!review->phases)
        return mo_fail_memory(err);
    for (int p = 0; p < phases->n && status == MO_OK; p++) {
        const mo_phase *phase = &phases->items[p];
        mo_schedule *alone = NULL;

        status = mo_phase_schedule_make(phases, p, problem->instance, s,
                                        problem->phases[p], &alone, err);
        if (status != MO_OK)
            break;
        review->phases[review->n_phases++] =
            (mo_report_phase){ phase->name, phase->weight, alone->makespan_ns };
        sum_ns += phase->weight * alone->makespan_ns;
        mo_schedule_free(alone);
    }
    if (status == MO_OK && sum_ns > s->makespan_ns)
        snprintf(review->evaluation.first_error,
                 sizeof review->evaluation.first_error,
                 "the phases take %.3f us together, more than the makespan",
                 (double) sum_ns / 1000);
    return status;
}

mo_status mo_review_file(const mo_review_source *from, const char *path,
                         mo_review *review, mo_error *err)
{
    const char *name = strcmp(path, "-") == 0 ? "<stdin>" : path;
    char *text = NULL;
    size_t size;
    mo_progress step;
    mo_status status;

    mo_driver_log_step(from->logger, &step, "reading");
    mo_progress_detail(&step, "%s", name);
    status = mo_reader_all(path, &text, &size, err);
    mo_progress_end(&step);
    if (status == MO_OK)
        status = check_is_text(name, text, size, err);
    review->rules.tolerance = from->tolerance;
    /* With a graph given, a text in no solver's format is treated as a
     * malformed placement, so that the error names its line. */
    if (status == MO_OK && (mo_placement_list_sniff(text) ||
                            (from->graph && !mo_solution_sniff(text))))
        status = evaluate_listing(from, name, text, size, review, err);
    else if (status == MO_OK)
        status = evaluate_columns(from, name, text, size, review, err);
    if (status == MO_OK && from->one_copy)
        status = mo_answer_evaluation_take_copy(&review->evaluation, from->copy,
                                                err);
    if (status == MO_OK)
        status = time_phases(review, err);
    mo_driver_log_step(from->logger, &step, "bounding");
    if (status == MO_OK && !from->without_bound)
        status = find_proof(from, name, text, size, review, err);
    if (status == MO_OK && !from->without_bound)
        status = find_bound(from, review, err);
    mo_progress_end(&step);
    free(text);
    return status;
}
