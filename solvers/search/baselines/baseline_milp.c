/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "solvers/search/baselines/baseline_milp.h"

#include <math.h>
#include <stdlib.h>

#include "base/out.h"
#include "base/utf8.h"
#include "models/write/lp_writer.h"
#include "models/model.h"
#include "models/write/mip_start.h"
#include "schedule/heuristic/heft.h"
#include "solvers/registry.h"
#include "solvers/run_solver.h"
#include "solvers/search/baselines/lp_relax.h"
#include "solvers/process/workdir.h"

/* No less time is given to a solver. */
#define LEAST_S 0.1

typedef struct chosen {
    const mo_solver *solver; /* NULL: none was found */
    mo_solver_install found;
    bool owned; /* found is ours to clear */
    mo_solver_via way;
} chosen;

/* All that is made on the way to a solution. */
typedef struct attempt {
    chosen solver;
    mo_frame *frame;
    mo_identity identity; /* empty: nobody else will read it */
    mo_model model;
    bool integer;
    mo_workdir *folder;
} attempt;

static void say(mo_method_result *placed, const char *text)
{
    mo_utf8_escape_controls(placed->why, sizeof placed->why, text);
}

/* The library where there is one: nothing is started but what solves. */
static bool choose_way(chosen *c)
{
    if (c->found.library && c->solver->solve)
        c->way = MO_SOLVER_VIA_LIBRARY;
    else
        c->way = MO_SOLVER_VIA_PROCESS;
    return c->way == MO_SOLVER_VIA_LIBRARY || c->found.program;
}

static mo_status find_any(chosen *c, mo_error *err)
{
    c->owned = true;
    for (int i = 0; mo_solver_table[i]; i++) {
        mo_status status;

        c->solver = mo_solver_table[i];
        c->found = (mo_solver_install){ 0 };
        status = c->solver->find(NULL, &c->found, err);
        if (status != MO_OK || choose_way(c))
            return status;
        mo_solver_install_clear(&c->found);
    }
    c->solver = NULL;
    return MO_OK;
}

/* What is known to be wrong with it is asked for, if nobody did. */
static mo_status choose_solver(const mo_method_task *task, chosen *c,
                               mo_error *err)
{
    mo_status status = MO_OK;

    *c = (chosen){ .solver = task->assist };
    if (task->assist && task->found)
        c->found = *task->found;
    if (!task->assist || !choose_way(c))
        status = find_any(c, err);
    if (status == MO_OK && c->owned && c->solver)
        status = mo_solver_query_version(c->solver, c->way, &c->found, err);
    return status;
}

/* Seconds until somebody stops us; 0: nobody will. */
static double seconds_left(const mo_stop *stop)
{
    double left = mo_stop_remaining_s(stop);

    return isinf(left) ? 0 : fmax(left, LEAST_S);
}

/* A sink for the model, or for a start in the solver's layout. */
static mo_status make_sink(const attempt *a, bool start, mo_out *out,
                           mo_sink **sink, mo_error *err)
{
    mo_sink *exact = NULL;
    mo_status status;

    if (start)
        return mo_mip_start_new(out, a->solver.solver->start_layout, sink, err);
    status = mo_lp_writer_new(out, NULL, &exact, err);
    if (status == MO_OK && !a->integer)
        return mo_baseline_lp_relax_new(exact, sink, err);
    *sink = exact;
    return status;
}

static mo_status write_file(const attempt *a, bool start, const char *path,
                            mo_error *err)
{
    mo_sink *sink = NULL;
    mo_out *out = NULL;
    mo_status status = mo_out_open(path, &out, err);

    if (status != MO_OK)
        return status;
    status = make_sink(a, start, out, &sink, err);
    if (status == MO_OK) {
        status = mo_model_write(&a->model, sink, err);
        mo_sink_free(sink);
    }
    if (status == MO_OK)
        return mo_out_commit(out, err);
    mo_out_abandon(out);
    return status;
}

/* Takes the solution out of what happened, or says what did. */
static void keep_solution(mo_solver_outcome *outcome,
                          mo_baseline_milp_result *solved,
                          mo_method_result *placed)
{
    bool usable =
        outcome->solution && (outcome->claim == MO_SOLUTION_STATUS_OPTIMAL ||
                              outcome->claim == MO_SOLUTION_STATUS_FEASIBLE);

    if (usable) {
        solved->solution = outcome->solution;
        outcome->solution = NULL;
        return;
    }
    say(placed, *outcome->text ? outcome->text
                               : mo_solution_status_names[outcome->claim]);
}

static mo_status run(const mo_method_task *task, const attempt *a,
                     const char *model, const char *start,
                     mo_baseline_milp_result *solved, mo_method_result *placed,
                     mo_error *err)
{
    const chosen *c = &a->solver;
    const mo_solver_job job = { .model = model,
                                .start = start,
                                .folder = mo_workdir_path(a->folder),
                                .time_s = seconds_left(task->stop),
                                .gap = -1,
                                .threads = task->threads,
                                .presolve = !c->found.no_presolve };
    const mo_solver_run_options options = { .way = c->way,
                                            .scratch = job.folder };
    mo_solver_outcome outcome = { 0 };
    mo_status status =
        mo_solver_run(c->solver, &c->found, &job, &options, &outcome, err);

    if (status == MO_OK)
        keep_solution(&outcome, solved, placed);
    mo_solver_outcome_clear(&outcome);
    return status;
}

/* An integer program gets a start, so that there is an answer at any time.  Of
 * no ops there would be nothing to tell in it. */
static bool wants_start(const attempt *a)
{
    return a->integer && a->solver.solver->starts && a->frame->x->n > 0 &&
           mo_model_has_start(&a->model);
}

/* A solver hears of signals from its beginning on; making a model takes long
 * enough for one to come before.  That time has run out is no reason: see
 * LEAST_S. */
static bool is_told_to_stop(const mo_method_task *task,
                            mo_method_result *placed)
{
    bool is_said = mo_stop_is_requested(task->stop);

    if (is_said)
        say(placed, "stopped before the solver began");
    return is_said;
}

static mo_status solve(const mo_method_task *task, attempt *a,
                       mo_baseline_milp_result *solved,
                       mo_method_result *placed, mo_error *err)
{
    char *model = NULL, *start = NULL;
    mo_status status = mo_workdir_new(&a->folder, err);

    if (status != MO_OK)
        return status;
    model = mo_workdir_file(a->folder, "baseline.lp");
    start = mo_workdir_file(a->folder, "baseline.start");
    status =
        model && start ? write_file(a, false, model, err) : mo_fail_memory(err);
    if (status == MO_OK && wants_start(a))
        status = write_file(a, true, start, err);
    if (status == MO_OK && !is_told_to_stop(task, placed))
        status = run(task, a, model, wants_start(a) ? start : NULL, solved,
                     placed, err);
    free(start);
    free(model);
    return status;
}

/* Around the first schedule at hand: a better one would take its time, and
 * make no difference to a method that has its own ideas. */
static mo_status make_frame(const mo_baseline_milp_model *what,
                            mo_frame **frame, mo_error *err)
{
    mo_schedule *start = NULL;
    mo_status status = mo_heft(what->x, &what->regime, NULL, &start, err);

    return status == MO_OK
               ? mo_frame_make_with_bounds(what->x, &what->regime, 0, NULL,
                                           start, frame, err)
               : status;
}

/* *made is false where there is no such model of the instance, and placed says
 * why. */
static mo_status make_model(const mo_baseline_milp_model *what, attempt *a,
                            bool *made, mo_method_result *placed, mo_error *err)
{
    mo_error refused = { 0 };
    mo_status status = make_frame(what, &a->frame, err);

    if (status != MO_OK)
        return status;
    status = mo_model_make(what->formulation, a->frame, &a->identity, &a->model,
                           &refused);
    *made = status == MO_OK;
    if (status == MO_E_INPUT) {
        say(placed, refused.text);
        return MO_OK;
    }
    if (status != MO_OK && err)
        *err = refused;
    return status;
}

mo_status mo_baseline_milp_solve(const mo_method_task *task,
                                 const mo_baseline_milp_model *model,
                                 mo_baseline_milp_result *solved,
                                 mo_method_result *placed, mo_error *err)
{
    attempt a = { .integer = model->integer };
    bool made = false;
    mo_status status = choose_solver(task, &a.solver, err);

    *solved = (mo_baseline_milp_result){ 0 };
    if (status == MO_OK && !a.solver.solver)
        say(placed, "needs a solver, and none was found");
    else if (status == MO_OK)
        status = make_model(model, &a, &made, placed, err);
    if (made) {
        solved->unit_ns = a.model.frame->unit_ns;
        status = solve(task, &a, solved, placed, err);
        mo_model_clear(&a.model);
    }
    mo_workdir_free(a.folder);
    mo_frame_free(a.frame);
    if (a.solver.owned)
        mo_solver_install_clear(&a.solver.found);
    return status;
}

mo_status mo_baseline_place_by_lp(const mo_method_task *task,
                                  const mo_formulation *formulation,
                                  mo_baseline_place_by_solution *place,
                                  mo_method_result *placed, mo_error *err)
{
    const mo_baseline_milp_model model = {
        .formulation = formulation,
        .x = task->x,
        .regime = { MO_CONGESTION_NONE, MO_TENSORS_PER_EDGE, MO_MEMORY_NONE },
    };
    mo_baseline_milp_result solved;
    mo_status status =
        mo_baseline_milp_solve(task, &model, &solved, placed, err);

    if (status == MO_OK && solved.solution)
        status = place(task, solved.solution, placed, err);
    mo_solution_free(solved.solution);
    return status;
}
