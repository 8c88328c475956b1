/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "solvers/search/baselines/baseline_milp.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "base/out.h"
#include "base/utf8.h"
#include "models/model.h"
#include "models/write/lp_writer.h"
#include "models/write/mip_start.h"
#include "schedule/heuristic/heft.h"
#include "solvers/process/workdir.h"
#include "solvers/registry.h"
#include "solvers/run_solver.h"

typedef struct relaxation {
    mo_sink sink;
    mo_sink *to;
    const char *family; /* of the last row */
} relaxation;

static void begin_pass(mo_sink *sink, int pass)
{
    relaxation *r = (relaxation *) sink;

    r->family = NULL;
    mo_sink_begin(r->to, pass);
}

static void pass_column(mo_sink *sink, int id, const mo_variable *column)
{
    mo_variable relaxed = *column;

    (void) id;
    if (column->kind == MO_VARIABLE_BINARY) {
        relaxed.kind = MO_VARIABLE_CONTINUOUS;
        relaxed.lower = 0;
        relaxed.upper = 1;
    }
    mo_sink_column(((relaxation *) sink)->to, &relaxed);
}

static void end_columns(mo_sink *sink)
{
    mo_sink_columns_end(((relaxation *) sink)->to);
}

static void pass_row(mo_sink *sink, const mo_sink_row_terms *row)
{
    relaxation *r = (relaxation *) sink;

    if (mo_sink_failed(r->to))
        return;
    if (row->family != r->family)
        mo_sink_family(r->to, row->family);
    r->family = row->family;
    for (int i = 0; i < row->n; i++)
        mo_sink_term(r->to, row->columns[i], row->coefs[i]);
    mo_sink_row(r->to, row->sense, row->rhs);
}

static mo_status end_relaxation(mo_sink *sink, mo_error *err)
{
    return mo_sink_end(((relaxation *) sink)->to, err);
}

static void free_relaxation(mo_sink *sink)
{
    mo_sink_free(((relaxation *) sink)->to);
}

mo_status mo_baseline_lp_relax_new(mo_sink *to, mo_sink **sink, mo_error *err)
{
    static const mo_sink_kind kind = { .passes = 1,
                                       .wants_rows = true,
                                       .begin = begin_pass,
                                       .column = pass_column,
                                       .columns_end = end_columns,
                                       .row = pass_row,
                                       .end = end_relaxation,
                                       .free = free_relaxation };
    relaxation *r;

    assert(to->kind->passes == 1);
    r = mo_sink_new(&kind, sizeof *r, err);
    if (!r) {
        mo_sink_free(to);
        return mo_fail_memory(err);
    }
    r->to = to;
    *sink = &r->sink;
    return MO_OK;
}

/* Least time limit of a solver. */
#define MIN_S 0.1

typedef struct solver_choice {
    const mo_solver *solver; /* NULL: none was found */
    mo_solver_install found;
    bool owned; /* found is to be cleared */
    mo_solver_via way;
} solver_choice;

/* All that is made for one solve. */
typedef struct milp_run {
    solver_choice solver;
    mo_frame *frame;
    mo_identity identity; /* empty: the answer is not read elsewhere */
    mo_model model;
    bool integer;
    mo_workdir *folder;
} milp_run;

/* Sets placed->why, with control characters escaped. */
static void set_reason(mo_method_result *placed, const char *text)
{
    mo_utf8_escape_controls(placed->why, sizeof placed->why, text);
}

/* Prefers the library: no process is started. */
static bool choose_interface(solver_choice *c)
{
    if (c->found.library && c->solver->solve)
        c->way = MO_SOLVER_VIA_LIBRARY;
    else
        c->way = MO_SOLVER_VIA_PROCESS;
    return c->way == MO_SOLVER_VIA_LIBRARY || c->found.program;
}

/* Sets c->solver to the first installed solver of the table, NULL: none. */
static mo_status find_installed(solver_choice *c, mo_error *err)
{
    c->owned = true;
    for (int i = 0; mo_solver_table[i]; i++) {
        mo_status status;

        c->solver = mo_solver_table[i];
        c->found = (mo_solver_install){ 0 };
        status = c->solver->find(NULL, &c->found, err);
        if (status != MO_OK || choose_interface(c))
            return status;
        mo_solver_install_clear(&c->found);
    }
    c->solver = NULL;
    return MO_OK;
}

/* Returns the seconds until the stop; 0: no limit. */
static double seconds_left(const mo_stop *stop)
{
    double left = mo_stop_remaining_s(stop);

    return isinf(left) ? 0 : fmax(left, MIN_S);
}

/* Makes a sink for the model, or for a MIP start in the solver's layout. */
static mo_status make_sink(const milp_run *a, bool start, mo_out *out,
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

/* Writes the model, or its MIP start, to path; on an error no file appears. */
static mo_status write_file(const milp_run *a, bool start, const char *path,
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

/* Moves a usable solution to solved; otherwise placed->why gives the reason. */
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
    set_reason(placed, *outcome->text
                           ? outcome->text
                           : mo_solution_status_names[outcome->claim]);
}

static mo_status run_solver(const mo_method_task *task, const milp_run *a,
                            const char *model, const char *start,
                            mo_baseline_milp_result *solved,
                            mo_method_result *placed, mo_error *err)
{
    const solver_choice *c = &a->solver;
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

/* An integer program gets a MIP start, so that there is a solution at any
 * time. Without ops the start would be empty. */
static bool needs_mip_start(const milp_run *a)
{
    return a->integer && a->solver.solver->accepts_start &&
           a->frame->x->n > 0 && mo_model_has_start(&a->model);
}

/* A solver handles signals from its start on; one may arrive while the model
 * is made. An expired time limit does not count: see MIN_S. */
static bool is_stop_requested(const mo_method_task *task,
                              mo_method_result *placed)
{
    bool requested = mo_stop_is_requested(task->stop);

    if (requested)
        set_reason(placed, "stopped before the solver began");
    return requested;
}

static mo_status solve_model(const mo_method_task *task, milp_run *a,
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
    if (status == MO_OK && needs_mip_start(a))
        status = write_file(a, true, start, err);
    if (status == MO_OK && !is_stop_requested(task, placed))
        status = run_solver(task, a, model, needs_mip_start(a) ? start : NULL,
                            solved, placed, err);
    free(start);
    free(model);
    return status;
}

/* *made is false where the formulation refuses the instance; placed->why gives
 * the reason. */
static mo_status make_model(const mo_baseline_milp_model *what, milp_run *a,
                            bool *made, mo_method_result *placed, mo_error *err)
{
    mo_error refused = { 0 };
    mo_schedule *start = NULL;
    mo_status status = mo_heft(what->x, &what->regime, NULL, &start, err);

    /* Around the schedule of HEFT: a better start would take time and make no
     * difference to the method. */
    if (status == MO_OK)
        status = mo_frame_make_with_bounds(what->x, &what->regime, 0, NULL,
                                           start, &a->frame, err);
    if (status != MO_OK)
        return status;
    status = mo_model_make(what->formulation, a->frame, &a->identity, &a->model,
                           &refused);
    *made = status == MO_OK;
    if (status == MO_E_INPUT) {
        set_reason(placed, refused.text);
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
    milp_run a = { .integer = model->integer };
    bool made = false;
    /* Uses the task's solver, or the first that is installed; queries the
     * version of the latter for its known defects. */
    solver_choice *c = &a.solver;
    mo_status status = MO_OK;

    *c = (solver_choice){ .solver = task->assist };
    if (task->assist && task->found)
        c->found = *task->found;
    if (!task->assist || !choose_interface(c))
        status = find_installed(c, err);
    if (status == MO_OK && c->owned && c->solver)
        status = mo_solver_query_version(c->solver, c->way, &c->found, err);

    *solved = (mo_baseline_milp_result){ 0 };
    if (status == MO_OK && !a.solver.solver)
        set_reason(placed, "needs a solver, and none was found");
    else if (status == MO_OK)
        status = make_model(model, &a, &made, placed, err);
    if (made) {
        solved->unit_ns = a.model.frame->unit_ns;
        status = solve_model(task, &a, solved, placed, err);
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
