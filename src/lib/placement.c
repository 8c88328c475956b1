/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Placements of the library.
 *
 * Whatever computed it, a placement is written as the columns of a solution,
 * read back, and evaluated as moirai-check does: there is one way to become a
 * placement.
 */
#include <config.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/reader.h"
#include "driver/placement_solution.h"
#include "driver/plugin/plugin.h"
#include "driver/raise_bound.h"
#include "lib/handles.h"
#include "schedule/period/modulo_schedule.h"
#include "solvers/answer/placement_list.h"
#include "solvers/search/period/replicas_search.h"

static mo_proof_scope scope_of(const moirai_instance *instance)
{
    return (mo_proof_scope){ instance->instance, instance->regime,
                             instance->objective, (int) instance->in_flight };
}

mo_status mo_lib_placement_make(const moirai_instance *instance,
                                mo_answer_evaluation *evaluation,
                                const mo_report_proof *proven,
                                const char *method,
                                moirai_placement **placement, mo_error *err)
{
    const mo_proof_scope scope = scope_of(instance);
    moirai_placement *made = NULL;
    mo_status status = MO_OK;

    if (!evaluation->schedule)
        status = mo_fail(err, MO_E_INPUT, "makes no placement: %.900s",
                         evaluation->first_error);
    /* That of copies is part of the evaluation. */
    if (status == MO_OK && proven && evaluation->n_further == 0)
        status = mo_reported_bound_find(
            &scope, mo_answer_evaluation_objective_ns(evaluation), proven, NULL,
            &(mo_driver_log){ .quiet = true }, &evaluation->lower, err);
    if (status == MO_OK) {
        made = calloc(1, sizeof *made);
        if (!made)
            status = mo_fail_memory(err);
    }
    if (status != MO_OK) {
        mo_answer_evaluation_clear(evaluation);
        return status;
    }
    atomic_init(&made->references, 1);
    made->instance = mo_lib_retain_instance(instance);
    made->evaluation = *evaluation;
    *evaluation = (mo_answer_evaluation){ 0 };
    made->bound_ns = made->evaluation.lower.bound_ns;
    made->bound_by = made->evaluation.lower.which;
    snprintf(made->method, sizeof made->method, "%s", method);
    *placement = made;
    return MO_OK;
}

mo_status mo_lib_placement_of_solution(
    const moirai_instance *instance, const char *name,
    const mo_solution *solution, const mo_lower_bound *known,
    const mo_report_proof *proven, moirai_placement **placement, mo_error *err)
{
    mo_answer_evaluation evaluation = { 0 };
    mo_provenance origin = { 0 };
    mo_report_claim claim;
    mo_status status = mo_answer_provenance(solution, &origin, err);

    if (status == MO_OK && origin.has_instance &&
        origin.instance != instance->instance->digest)
        status = mo_fail_at(err, MO_E_INPUT, name, 0,
                            "is a solution of another instance: graph, "
                            "cluster, profile or options differ");
    if (status == MO_OK)
        status = mo_answer_evaluate_solution(
            solution, &origin, instance->instance, &instance->regime,
            MO_ANSWER_TOLERANCE, &evaluation, err);
    if (status != MO_OK) {
        mo_answer_evaluation_clear(&evaluation);
        return status;
    }
    if (known)
        evaluation.lower = *known;
    claim = mo_review_claim(solution, &origin);
    status = mo_lib_placement_make(instance, &evaluation, known ? NULL : proven,
                                   claim.by, placement, err);
    if (status == MO_OK && claim.has_bound)
        mo_lib_placement_claim(*placement, claim.bound_ns);
    return status;
}

mo_status mo_lib_placement_prove(moirai_placement *p, const mo_proof *proof,
                                 mo_error *err)
{
    mo_out *out = NULL;
    size_t size;
    mo_status status = proof ? mo_out_memory(&out, err) : MO_OK;

    if (status != MO_OK || !proof)
        return status;
    mo_proof_write(proof, '#', out);
    free(p->proof);
    p->proof = mo_out_take(out, &size);
    mo_out_abandon(out);
    return p->proof ? MO_OK : mo_fail_memory(err);
}

/* The bound of the certificate in the text of a solution; without one *proof is
 * NULL.  One that cannot be read proves nothing. */
static mo_status find_proof(const moirai_instance *instance, const char *name,
                            const char *text, size_t size, mo_proof **proof,
                            mo_report_proof *proven, mo_error *err)
{
    const mo_proof_scope scope = scope_of(instance);
    mo_error why = { 0 };
    mo_status status = mo_proof_read(name, text, size, proof, &why);

    if (status == MO_E_MEMORY)
        return mo_fail_memory(err);
    if (status != MO_OK || !*proof)
        return MO_OK;
    return mo_certificate_verify(&scope, INT64_MAX, *proof,
                                 &(mo_driver_log){ .quiet = true }, proven,
                                 err);
}

static mo_status read_solution(const moirai_instance *instance,
                               const char *name, const char *text, size_t size,
                               const mo_lower_bound *known,
                               moirai_placement **placement, mo_error *err)
{
    mo_solution *solution = NULL;
    mo_proof *proof = NULL;
    mo_report_proof proven = { 0 };
    mo_status status =
        mo_solution_read_memory(name, text, size, &solution, err);

    if (status == MO_OK && solution->n <= 0)
        status = mo_fail_at(err, MO_E_INFEASIBLE, name, 0,
                            "holds no solution; it says: %s",
                            mo_solution_status_names[solution->claim]);
    if (status == MO_OK && !known)
        status = find_proof(instance, name, text, size, &proof, &proven, err);
    if (status == MO_OK)
        status = mo_lib_placement_of_solution(instance, name, solution, known,
                                              &proven, placement, err);
    if (status == MO_OK)
        status = mo_lib_placement_prove(*placement, proof, err);
    mo_proof_free(proof);
    mo_solution_free(solution);
    return status;
}

static mo_status read_list(const moirai_instance *instance, const char *name,
                           char *text, size_t size,
                           moirai_placement **placement, mo_error *err)
{
    const mo_instance *x = instance->instance;
    int *device = calloc((size_t) x->n + 1, sizeof *device);
    mo_status status =
        device ? mo_placement_list_read(name, text, size, x, device, err)
               : mo_fail_memory(err);

    if (status == MO_OK)
        status = (mo_status) moirai_placement_new(
            instance, device, NULL, placement, (moirai_error *) err);
    free(device);
    return status;
}

mo_status mo_lib_placement_of_text(const moirai_instance *instance,
                                   const char *name, char *text, size_t size,
                                   moirai_placement **placement, mo_error *err)
{
    mo_status status =
        mo_placement_list_sniff(text)
            ? read_list(instance, name, text, size, placement, err)
            : read_solution(instance, name, text, size, NULL, placement, err);

    if (status != MO_OK)
        mo_error_set_location(err, name, 0);
    return status;
}

mo_status mo_lib_placement_of_result(const moirai_instance *instance,
                                     const mo_lib_result *result,
                                     moirai_placement **placement,
                                     mo_error *err)
{
    const mo_place_solution solution = {
        .x = instance->instance,
        .schedule = result->schedule,
        .further = result->further,
        .n_further = result->n_further,
        .made_of = mo_lib_instance_review(instance).problem.made_of,
        .method = result->method,
        .objective = instance->objective,
        .period_ns = result->period_ns,
    };
    mo_out *out = NULL;
    char *text = NULL;
    size_t size = 0;
    mo_status status = mo_out_memory(&out, err);

    if (status == MO_OK)
        status = mo_place_solution_write(&solution, out, err);
    if (status == MO_OK) {
        text = mo_out_take(out, &size);
        status = text ? MO_OK : mo_fail_memory(err);
    }
    mo_out_abandon(out);
    if (status == MO_OK)
        status = read_solution(instance, result->method, text, size,
                               result->known, placement, err);
    if (status == MO_OK)
        snprintf((*placement)->method, sizeof(*placement)->method, "%s",
                 result->method);
    free(text);
    return status;
}

void mo_lib_placement_claim(moirai_placement *p, int64_t bound_ns)
{
    if (bound_ns <= mo_answer_evaluation_objective_ns(&p->evaluation))
        p->claimed_ns = bound_ns;
}

moirai_status moirai_placement_new(const moirai_instance *instance,
                                   const int *device, const int64_t *start_ns,
                                   moirai_placement **placement,
                                   moirai_error *err)
{
    mo_error *e = mo_lib_error(err);
    mo_schedule *schedule = NULL;
    int64_t objective_ns = 0;
    const mo_instance *x = instance->instance;
    mo_status status = MO_OK;

    for (int i = 0; i < x->n && status == MO_OK; i++)
        if (device[i] < 0 || device[i] >= x->n_devices)
            status = mo_fail(e, MO_E_USAGE,
                             "op '%.80s': there is no device %d; there are %d",
                             x->op_names[i], device[i], x->n_devices);
    if (status == MO_OK)
        status = mo_plugin_schedule(instance->instance, &instance->regime,
                                    device, start_ns, &schedule, e);
    if (status == MO_OK)
        status = mo_period_objective(instance->instance, instance->objective,
                                     (int) instance->in_flight, schedule,
                                     &objective_ns, e);
    if (status == MO_OK)
        status = mo_lib_placement_of_result(
            instance,
            &(mo_lib_result){
                .method = "", .schedule = schedule, .period_ns = objective_ns },
            placement, e);
    mo_schedule_free(schedule);
    return mo_lib_status(status);
}

moirai_status moirai_placement_read(const moirai_instance *instance,
                                    const char *path,
                                    moirai_placement **placement,
                                    moirai_error *err)
{
    mo_error *e = mo_lib_error(err);
    char *text = NULL;
    size_t size;
    mo_status status = mo_reader_all(path, &text, &size, e);

    if (status == MO_OK)
        status =
            mo_lib_placement_of_text(instance, path, text, size, placement, e);
    free(text);
    return mo_lib_status(status);
}

void moirai_placement_free(moirai_placement *placement)
{
    if (!placement || !mo_lib_release(&placement->references))
        return;
    free(placement->proof);
    mo_answer_evaluation_clear(&placement->evaluation);
    moirai_instance_free(placement->instance);
    free(placement);
}

moirai_status moirai_placement_write(const moirai_placement *placement,
                                     const char *path, moirai_write_fn *write,
                                     void *context, moirai_error *err)
{
    mo_error *e = mo_lib_error(err);
    const moirai_instance *instance = placement->instance;
    mo_place_solution solution = {
        .x = instance->instance,
        .schedule = placement->evaluation.schedule,
        .made_of = mo_lib_instance_review(instance).problem.made_of,
        .method = *placement->method ? placement->method : "given",
        .bound_ns = placement->bound_ns,
        .objective = instance->objective,
        .period_ns = placement->evaluation.period_ns > 0
                         ? placement->evaluation.period_ns
                         : 0,
        .output = path,
    };
    mo_replica further[MO_REPLICAS_MAX_DEVICES];
    mo_out *out = NULL;
    mo_proof *proof = NULL;
    mo_status status = MO_OK;

    /* Borrowed. */
    for (; solution.n_further < placement->evaluation.n_further;
         solution.n_further++) {
        if (solution.n_further == MO_REPLICAS_MAX_DEVICES)
            return mo_lib_status(mo_fail(e, MO_E_LIMIT, "more than %d copies",
                                         MO_REPLICAS_MAX_DEVICES));
        further[solution.n_further].device =
            placement->evaluation.further[solution.n_further].schedule->device;
    }
    solution.further = further;
    status = mo_lib_open_output(path, write, context, &out, e);

    if (status == MO_OK && placement->proof)
        status = mo_proof_read("proof", placement->proof,
                               strlen(placement->proof), &proof, e);
    solution.proof = proof;
    if (status == MO_OK)
        status = mo_place_solution_write(&solution, out, e);
    mo_proof_free(proof);
    return mo_lib_status(mo_lib_close_output(out, status, e));
}

int moirai_placement_n_copies(const moirai_placement *placement)
{
    return 1 + placement->evaluation.n_further;
}

moirai_status moirai_placement_copy(const moirai_placement *placement,
                                    int number, moirai_placement **copy,
                                    moirai_error *err)
{
    const mo_answer_evaluation *all = &placement->evaluation;
    const mo_answer_evaluation *one = number > 0 && number <= all->n_further
                                          ? &all->further[number - 1]
                                          : all;
    int64_t period_ns =
        number == 0 && all->n_further > 0 ? all->own_period_ns : one->period_ns;

    if (number < 0 || number > all->n_further)
        return mo_lib_status(mo_fail(mo_lib_error(err), MO_E_USAGE,
                                     "there is no copy %d; there are %d",
                                     number, 1 + all->n_further));
    return mo_lib_status(mo_lib_placement_of_result(
        placement->instance,
        &(mo_lib_result){ .method = placement->method,
                          .schedule = one->schedule,
                          .period_ns = period_ns > 0 ? period_ns : 0 },
        copy, mo_lib_error(err)));
}

mo_status mo_lib_placement_check_single(const moirai_placement *placement,
                                        mo_error *err)
{
    if (placement->evaluation.n_further == 0)
        return MO_OK;
    return mo_fail(err, MO_E_USAGE,
                   "the placement has %d copies of the network; take one with "
                   "moirai_placement_copy()",
                   1 + placement->evaluation.n_further);
}

static const mo_schedule *schedule_of(const moirai_placement *placement)
{
    return placement->evaluation.schedule;
}

const moirai_view *moirai_placement_view(const moirai_placement *placement)
{
    return &placement->instance->view;
}

int moirai_placement_device(const moirai_placement *placement, int op)
{
    const mo_schedule *s = schedule_of(placement);

    return op >= 0 && op < s->n ? s->device[op] : -1;
}

int64_t moirai_placement_start_ns(const moirai_placement *placement, int op)
{
    const mo_schedule *s = schedule_of(placement);

    return op >= 0 && op < s->n ? s->start_ns[op] : -1;
}

int moirai_placement_n_transfers(const moirai_placement *placement)
{
    return schedule_of(placement)->n_transfers;
}

int moirai_placement_transfer(const moirai_placement *placement, int i,
                              moirai_transfer *transfer)
{
    const mo_schedule *s = schedule_of(placement);
    const mo_transfer *t;

    if (i < 0 || i >= s->n_transfers)
        return -1;
    t = &s->transfers[i];
    *transfer = (moirai_transfer){
        .tensor = mo_schedule_tensor(placement->instance->instance, s, t),
        .from = t->from,
        .to = t->to,
        .start_ns = t->start_ns,
        .end_ns = t->end_ns,
    };
    return 0;
}

int64_t moirai_placement_makespan_ns(const moirai_placement *placement)
{
    return schedule_of(placement)->makespan_ns;
}

int64_t moirai_placement_period_ns(const moirai_placement *placement)
{
    return placement->evaluation.period_ns > 0 ? placement->evaluation.period_ns
                                               : -1;
}

int64_t moirai_placement_bound_ns(const moirai_placement *placement)
{
    return placement->bound_ns;
}

int64_t moirai_placement_solver_bound_ns(const moirai_placement *placement)
{
    return placement->claimed_ns > placement->bound_ns ? placement->claimed_ns
                                                       : 0;
}

double moirai_placement_gap(const moirai_placement *placement)
{
    double objective =
        (double) mo_answer_evaluation_objective_ns(&placement->evaluation);

    return objective > 0
               ? (objective - (double) placement->bound_ns) / objective
               : 0;
}

const char *moirai_placement_proof(const moirai_placement *placement)
{
    return placement->proof;
}

const char *moirai_placement_method(const moirai_placement *placement)
{
    return placement->method;
}

int moirai_placement_n_violations(const moirai_placement *placement)
{
    return mo_answer_evaluation_count(&placement->evaluation);
}

const char *moirai_placement_violation(const moirai_placement *placement, int i)
{
    const mo_answer_evaluation *j = &placement->evaluation;

    return i >= 0 && i < mo_answer_evaluation_count(j)
               ? mo_answer_evaluation_violation(j, i)
               : NULL;
}
