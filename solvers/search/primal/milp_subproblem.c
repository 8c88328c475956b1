/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "solvers/search/primal/milp_subproblem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/ablation.h"
#include "base/out.h"
#include "models/formulation.h"
#include "models/frame/frame.h"
#include "models/model.h"
#include "models/write/lp_writer.h"
#include "models/write/mip_start.h"
#include "solvers/answer/evaluation.h"
#include "solvers/process/workdir.h"
#include "solvers/run_solver.h"

/* With less time no solver is started. */
#define MIN_S 0.05

/* Tolerated overrun of a solver. */
#define GRACE_S 1.0

typedef struct subproblem {
    const mo_instance *x;
    const mo_regime *regime;
    const mo_primal_milp_options *options;
    mo_frame *frame;
    mo_identity identity; /* empty: the answer is not read elsewhere */
    mo_model model;
    mo_workdir *folder;
    char *model_path, *start_path; /* start_path may be NULL */
    mo_solver_outcome outcome;
    mo_answer_evaluation evaluation;
} subproblem;

/* Writes the model through the sink, which is NULL if status is an error, and
 * commits or abandons the file. */
static mo_status write_model_to(const mo_model *model, mo_out *out,
                                mo_sink *sink, mo_status status, mo_error *err)
{
    if (status == MO_OK)
        status = mo_model_write(model, sink, err);
    mo_sink_free(sink);
    if (status == MO_OK)
        return mo_out_commit(out, err);
    mo_out_abandon(out);
    return status;
}

static mo_status write_model(subproblem *a, mo_error *err)
{
    mo_sink *sink = NULL;
    mo_out *out;
    mo_status status;

    a->model_path = mo_workdir_file(a->folder, "part.lp");
    if (!a->model_path)
        return mo_fail_memory(err);
    status = mo_out_open(a->model_path, &out, err);
    if (status != MO_OK)
        return status;
    status = mo_lp_writer_new(out, NULL, &sink, err);
    return write_model_to(&a->model, out, sink, status, err);
}

static mo_status write_start(subproblem *a, mo_error *err)
{
    static const char *const names[] = { [MO_MIP_START_MIPLIB] = "part.sol",
                                         [MO_MIP_START_GUROBI] = "part.mst",
                                         [MO_MIP_START_CBC] = "part.cbc" };
    mo_mip_start_layout layout = a->options->solver->start_layout;
    mo_sink *sink = NULL;
    mo_out *out;
    mo_status status;

    if (!a->options->solver->accepts_start || !mo_model_has_start(&a->model))
        return MO_OK;
    a->start_path = mo_workdir_file(a->folder, names[layout]);
    if (!a->start_path)
        return mo_fail_memory(err);
    status = mo_out_open(a->start_path, &out, err);
    if (status != MO_OK)
        return status;
    status = mo_mip_start_new(out, layout, &sink, err);
    return write_model_to(&a->model, out, sink, status, err);
}

static mo_status run_solver(subproblem *a, mo_error *err)
{
    const mo_solver_install *found = a->options->found;
    const mo_stop *stop = a->options->stop;
    mo_solver_job job = { .model = a->model_path,
                          .start = a->start_path,
                          .folder = mo_workdir_path(a->folder),
                          .time_s = mo_stop_reached(stop)
                                        ? 0
                                        : fmin(mo_stop_remaining_s(stop),
                                               a->options->seconds),
                          .gap = 0,
                          .threads = 1,
                          .presolve = true };
    mo_solver_run_options options = { .way = found->program
                                                 ? MO_SOLVER_VIA_PROCESS
                                                 : MO_SOLVER_VIA_LIBRARY,
                                      .grace_s = GRACE_S,
                                      .scratch = mo_workdir_path(a->folder) };

    if (job.time_s < MIN_S)
        return MO_OK;
    return mo_solver_run(a->options->solver, found, &job, &options, &a->outcome,
                         err);
}

static mo_status solve_model(subproblem *a, mo_error *err)
{
    mo_provenance origin = { 0 };
    mo_schedule *start = NULL;
    mo_status status = MO_OK;

    if (a->options->start)
        status = mo_schedule_copy(a->x, a->options->start, &start, err);
    if (status == MO_OK)
        status = mo_frame_make_with_bounds(a->x, a->regime, 0, NULL, start,
                                           &a->frame, err);
    if (status == MO_OK)
        status = mo_model_make(&mo_formulation_compact, a->frame, &a->identity,
                               &a->model, err);

    if (status == MO_OK)
        status = mo_workdir_new(&a->folder, err);
    if (status == MO_OK)
        status = write_model(a, err);
    if (status == MO_OK)
        status = write_start(a, err);
    if (status == MO_OK)
        status = run_solver(a, err);
    if (status != MO_OK || !a->outcome.solution)
        return status;
    origin.unit_ns = a->model.frame->unit_ns;
    return mo_answer_evaluate_solution(a->outcome.solution, &origin, a->x,
                                       a->regime, MO_ANSWER_TOLERANCE,
                                       &a->evaluation, err);
}

static int64_t gcd(int64_t a, int64_t b)
{
    while (b != 0) {
        int64_t rest = a % b;

        a = b;
        b = rest;
    }
    return a;
}

static int64_t gcd_of_row(const mo_instance *x, int row, int64_t divisor)
{
    for (int kind = 0; kind < x->comm.n_kinds; kind++)
        divisor =
            gcd(divisor, x->comm.ns[(int64_t) row * x->comm.n_kinds + kind]);
    return divisor;
}

int64_t mo_primal_milp_bound_ns(const mo_instance *part, double bound_ns,
                                int64_t step_ns)
{
    double items = (double) part->n + part->n_flows;
    int64_t n_places = (int64_t) part->n * part->n_devices, lower_ns, over;
    int64_t divisor = 0; /* of all times of the part; 0: all are 0 */

    if (step_ns > 1)
        bound_ns -= items * (double) step_ns / 2;
    bound_ns -= MO_PRIMAL_MILP_TOLERANCE * fabs(bound_ns);
    if (!(bound_ns > 0) || bound_ns >= (double) MO_MAX_TOTAL_NS)
        return 0;
    for (int64_t at = 0; at < n_places && divisor != 1; at++)
        divisor = gcd(divisor, part->p_ns[at]);
    for (int q = 0; q < part->n_flows && divisor != 1; q++) {
        divisor = gcd_of_row(part, part->comm.flow_row[q], divisor);
        divisor = gcd_of_row(part, part->comm.tensor_row[part->flows[q].tensor],
                             divisor);
    }
    /* Rounds up to the next multiple if the value exceeds the last one by more
     * than any solver's error. */
    lower_ns = (int64_t) bound_ns;
    over = divisor > 1 ? lower_ns % divisor : 0;
    if ((double) over <= 100 * MO_PRIMAL_MILP_TOLERANCE * (double) lower_ns)
        return lower_ns;
    return lower_ns + (divisor - over);
}

/* After an invalid solution no claim of the solver is used. */
static void use_outcome(subproblem *a, mo_primal_milp_result *r)
{
    const mo_schedule *start = a->options->start;
    mo_answer_evaluation *j = &a->evaluation;

    if (a->outcome.solution && !mo_answer_evaluation_valid(j))
        return;
    if (a->outcome.solution)
        r->lower_ns = j->lower.bound_ns;
    if (j->schedule &&
        (!start || j->schedule->makespan_ns <= start->makespan_ns)) {
        r->schedule = j->schedule;
        j->schedule = NULL;
    }
    /* A claimed bound above a valid schedule is wrong; then no claim is used.
     */
    const mo_schedule *known = r->schedule ? r->schedule : a->options->start;
    /* The bound claimed by the solver; 0: none. A claim of optimality
     * without a bound gives the objective: no gap was allowed. */
    const mo_solver_outcome *o = &a->outcome;
    double bound = o->has_bound ? o->bound : 0;

    if (!o->has_bound && o->claim == MO_SOLUTION_STATUS_OPTIMAL &&
        o->solution && o->solution->has_objective)
        bound = o->solution->objective;
    int64_t lower_ns = mo_primal_milp_bound_ns(
        a->x, bound * (double) a->frame->unit_ns, a->frame->step_ns);

    if (a->regime->memory == MO_MEMORY_LIVE ||
        (known && lower_ns > known->makespan_ns))
        return;
    if (lower_ns > r->lower_ns)
        r->lower_ns = lower_ns;
    r->proven = r->schedule && a->outcome.claim == MO_SOLUTION_STATUS_OPTIMAL &&
                (double) lower_ns >= (1 - 10 * MO_PRIMAL_MILP_TOLERANCE) *
                                             (double) r->schedule->makespan_ns -
                                         1;
}

mo_status mo_primal_milp_solve(const mo_instance *part, const mo_regime *regime,
                               const mo_primal_milp_options *options,
                               mo_primal_milp_result *assisted, mo_error *err)
{
    subproblem a = { .x = part, .regime = regime, .options = options };
    mo_status status;

    *assisted = (mo_primal_milp_result){ 0 };
    if (mo_ablated(MO_ABLATION_milp))
        return MO_OK;
    status = solve_model(&a, err);
    if (status == MO_OK)
        use_outcome(&a, assisted);
    mo_answer_evaluation_clear(&a.evaluation);
    mo_solver_outcome_clear(&a.outcome);
    mo_workdir_free(a.folder);
    mo_model_clear(&a.model);
    mo_frame_free(a.frame);
    free(a.model_path);
    free(a.start_path);
    return status;
}

void mo_primal_milp_result_clear(mo_primal_milp_result *assisted)
{
    mo_schedule_free(assisted->schedule);
    *assisted = (mo_primal_milp_result){ 0 };
}
