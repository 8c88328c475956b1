/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "cli/solve_output.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/json_writer.h"
#include "base/out.h"
#include "base/registry.h"
#include "driver/file_hints.h"
#include "models/identity.h"
#include "report/format_units.h"
#include "schedule/bound/memory_bound.h"
#include "solvers/plugins/solver.h"
#include "solvers/registry.h"

typedef struct solver_row {
    const mo_solver *solver;
    const mo_solver_install
        *found; /* neither program nor library: not installed */
} solver_row;

static bool has_library(const solver_row *row)
{
    return row->found->library && row->solver->solve;
}

static const char *ways_of(const solver_row *row)
{
    if (row->solver->command_template)
        return "command";
    if (row->found->program)
        return has_library(row) ? "process, library" : "process";
    return has_library(row) ? "library" : "-";
}

static void put_path(const char *what, const char *path, mo_out *out)
{
    if (path)
        mo_out_printf(out, "%-8s%-9s%s\n", "", what, path);
}

static const char *version_of(const mo_solver_install *found)
{
    if (found->version)
        return found->version;
    return found->library_version ? found->library_version : "?";
}

static void print_solvers_text(const solver_row *rows, int n, mo_out *out)
{
    for (int i = 0; i < n; i++) {
        const mo_solver *solver = rows[i].solver;
        const mo_solver_install *found = rows[i].found;
        bool here = found->program || has_library(&rows[i]);
        const char *what = solver->command_template ? "plug-in"
                           : here                   ? version_of(found)
                                                    : "not found";

        mo_out_printf(out, "%-8s%-10s%-18s%s\n", solver->name, what,
                      ways_of(&rows[i]), solver->help);
        put_path("command", solver->command_template, out);
        put_path("program", found->program, out);
        put_path("library", has_library(&rows[i]) ? found->library : NULL, out);
        put_path("but", found->defect, out);
    }
}

static void print_solvers_json(const solver_row *rows, int n, mo_out *out)
{
    static const char *const limits[] = { "time", "gap", "threads", "memory" };
    mo_json_writer w = { .out = out };

    mo_json_begin_array(&w, NULL, MO_JSON_BLOCK);
    for (int i = 0; i < n; i++) {
        const mo_solver_install *found = rows[i].found;

        mo_json_begin_object(&w, NULL, MO_JSON_INLINE);
        mo_json_put_text(&w, "solver", rows[i].solver->name);
        mo_json_put_text(&w, "version",
                         found->version ? found->version
                                        : found->library_version);
        mo_json_put_text(&w, "program", found->program);
        mo_json_put_text(&w, "library",
                         has_library(&rows[i]) ? found->library : NULL);
        mo_json_put_text(&w, "trouble", found->defect);
        mo_json_begin_array(&w, "limits", MO_JSON_INLINE);
        for (unsigned k = 0; k < sizeof limits / sizeof *limits; k++)
            if (rows[i].solver->limits & 1U << k)
                mo_json_put_text(&w, NULL, limits[k]);
        mo_json_end(&w);
        mo_json_put_bool(&w, "starts", rows[i].solver->accepts_start);
        mo_json_end(&w);
    }
    mo_json_end(&w);
}

static const char as_given[] = "as given, not as emitted";

/* Identity columns are those of the model, whether a solver returned them or
 * not; a start keeps its own, which may have another time unit. */
static mo_provenance identity_of(const mo_answer_selector *selector,
                                 const mo_portfolio_member *e)
{
    mo_provenance own;

    if (e->is_start &&
        mo_answer_provenance(e->outcome.solution, &own, NULL) == MO_OK &&
        own.columns.n > 0)
        return own;
    return selector->review.origin;
}

static void write_column(const char *name, double value, mo_out *out)
{
    mo_out_text(out, name);
    mo_out_char(out, ' ');
    mo_out_double(out, value);
    mo_out_char(out, '\n');
}

static mo_status write_files(const mo_answer_selector *selector,
                             const char *path, mo_out *out, mo_error *err)
{
    mo_path_list files = { 0 };
    mo_status status = MO_OK;

    if (selector->state == MO_ANSWER_SELECTOR_READY)
        status = mo_file_hints_list(&selector->review.problem.made_of, path,
                                    &files, err);
    for (size_t i = 0; i < files.n && status == MO_OK; i++)
        mo_out_printf(out, "# file: %s\n", files.paths[i]);
    mo_path_list_clear(&files);
    return status;
}

static mo_status write_answer(const mo_answer_selection *selection,
                              const mo_answer_selector *selector,
                              const char *path, mo_out *out, mo_error *err)
{
    const mo_solution *s = selection->best->outcome.solution;
    const mo_provenance identity = identity_of(selector, selection->best);
    mo_status status;

    mo_out_text(out, "# Solution for model moirai\n");
    if (s->has_objective) {
        mo_out_text(out, "# Objective value = ");
        mo_out_double(out, s->objective);
        mo_out_char(out, '\n');
    }
    mo_out_printf(out, "# status: %s\n", selection->status);
    mo_out_printf(out, "# solver: %s\n",
                  mo_portfolio_member_title(selection->best));
    if (!selector->is_emitted)
        mo_out_printf(out, "# model: %s\n", as_given);
    if (selection->claimed_by[0])
        mo_out_printf(out, "# claimed by: %s\n", selection->claimed_by);
    if (selection->confirmed_by)
        mo_out_printf(out, "# confirmed by: %s\n", selection->confirmed_by);
    if (selection->bound.by && identity.unit_ns > 0) {
        mo_out_text(out, "# bound: ");
        mo_out_double(out, (double) selection->bound.bound_ns /
                               (double) identity.unit_ns);
        mo_out_printf(out, "\n# bound by: %s, %s\n", selection->bound.by,
                      selection->bound.recomputed ? "recomputed" : "claimed");
    }
    status = write_files(selector, path, out, err);
    if (selector->review.proven.bound_ns > 0)
        mo_proof_write(selector->review.proof, '#', out);
    for (int i = 0; i < s->n; i++) {
        const char *name = s->values[i].name;

        if (name && isfinite(s->values[i].value) &&
            !mo_identity_is_column(name))
            write_column(name, s->values[i].value, out);
    }
    for (int i = 0; i < identity.columns.n; i++)
        write_column(identity.columns.name[i], 1, out);
    return status;
}

mo_status mo_cli_solve_write(const mo_answer_selection *selection,
                             const mo_answer_selector *selector,
                             const char *path, mo_error *err)
{
    mo_out *out;
    mo_status status = mo_out_open(path, &out, err);

    if (status != MO_OK)
        return status;
    status = write_answer(selection, selector, path, out, err);
    if (status == MO_OK)
        return mo_out_commit(out, err);
    mo_out_abandon(out);
    return status;
}

/* Returns the member whose status is reported if there is no answer: the most
 * informative one. */
static const mo_portfolio_member *
most_informative_member(const mo_answer_selection *selection,
                        const mo_portfolio *c)
{
    if (selection->best || selection->broken)
        return selection->best ? selection->best : selection->broken;
    for (int i = 0; i < c->n; i++)
        if (c->entries[i].status == MO_OK &&
            c->entries[i].outcome.claim == MO_SOLUTION_STATUS_INFEASIBLE)
            return &c->entries[i];
    return &c->entries[0];
}

static const char *name_of(const mo_portfolio_member *e)
{
    if (e->is_start)
        return e->origin ? e->origin : "start";
    return e->solver ? e->solver->name : "command";
}

/* Writes why there is no answer, and returns text. Without limits of memory
 * every placement is a schedule, so a proof about the instance is about them; a
 * proof about a model as given may be about its rows. */
static const char *describe_failure(const mo_answer_selection *selection,
                                    const mo_answer_selector *selector,
                                    const mo_portfolio_member *e, char *text,
                                    size_t size)
{
    const mo_review *r = &selector->review;
    mo_memory_totals sum;

    if (selection->doubt[0] && strcmp(selection->status, "limit") == 0) {
        snprintf(text, size, "%s", selection->doubt);
        return text;
    }
    if (strcmp(selection->status, "infeasible") != 0 ||
        selector->state != MO_ANSWER_SELECTOR_READY ||
        r->regime.memory == MO_MEMORY_NONE) {
        char unchecked[MO_ERROR_TEXT_SIZE + MO_ERROR_FILE_SIZE] = "";
        bool lacks = selection->claimed_by[0] &&
                     selector->state == MO_ANSWER_SELECTOR_NO_INSTANCE;

        if (lacks)
            mo_error_format(&selector->why, unchecked, sizeof unchecked);
        snprintf(text, size, "%.150s%s%.300s", e->outcome.text,
                 lacks ? "; not checked: " : "", unchecked);
        return text;
    }
    sum = mo_bound_memory_totals(r->problem.instance, &r->regime);
    snprintf(text, size,
             "no placement fits into memory: the ops need %.0f bytes, all "
             "devices together have %.0f%s",
             sum.needed, sum.available,
             sum.needed > sum.available
                 ? ""
                 : ", but the ops cannot be divided among them so that each "
                   "device has enough");
    return text;
}

/* For an answer that was not checked. */
static void report_claimed(const mo_answer_selection *selection,
                           const mo_answer_selector *selector,
                           const mo_portfolio_member *e, double seconds,
                           bool json, mo_out *out)
{
    char why[512] = "", text[MO_FORMAT_SIZE], status[100];
    const char *shown;
    double us;

    if (!selection->best)
        describe_failure(selection, selector, e, why, sizeof why);
    if (json) {
        mo_json_writer w = { .out = out };

        mo_json_begin_object(&w, NULL, MO_JSON_LINES);
        mo_json_put_text(&w, "solver", name_of(e));
        mo_json_put_text(&w, "status", selection->status);
        mo_json_put_text(&w, "model",
                         selector->is_emitted ? "as emitted" : as_given);
        if (selection->best)
            mo_json_put_bool(&w, "checked", false);
        if (selection->claimed_by[0])
            mo_json_put_text(&w, "claimed_by", selection->claimed_by);
        if (selection->confirmed_by)
            mo_json_put_text(&w, "confirmed_by", selection->confirmed_by);
        if (selection->best)
            mo_json_put_double(&w, "claimed_us",
                               mo_answer_selector_makespan_us(selector, e));
        else
            mo_json_put_text(&w, "why", why);
        mo_json_put_double(&w, "seconds", seconds);
        mo_json_end(&w);
        return;
    }
    shown = mo_report_status_text(selection->status, selection->claimed_by,
                                  status, sizeof status);
    if (!selection->best) {
        static const char infeasible[] = "infeasible";
        bool proven = selection->confirmed_by != NULL;
        size_t n = strstr(shown, infeasible) ? sizeof infeasible - 1 : 0;

        /* "infeasible after 2.0 s" begins with the status. */
        if (n > 0 && strncmp(why, infeasible, n) == 0)
            mo_out_printf(out, "%s:%s%s\n", shown, proven ? " proven" : "",
                          why + n);
        else
            mo_out_printf(out, "%s: %s\n", shown, why);
        return;
    }
    us = mo_answer_selector_makespan_us(selector, e);
    mo_out_printf(out, "%s, not checked\n", shown);
    if (!selector->is_emitted)
        mo_out_printf(out, "%-12s%s\n", "model", as_given);
    mo_out_printf(out, "%-12s", "claimed");
    if (selector->review.origin.unit_ns > 0 && fabs(us * 1000) < 9e18)
        mo_out_text(out, mo_format_time((int64_t) llround(us * 1000), text));
    else
        mo_out_double(out, us);
    mo_out_char(out, '\n');
}

void mo_cli_solve_report(const mo_answer_selection *selection,
                         const mo_answer_selector *selector,
                         const mo_portfolio *c,
                         const mo_runtime_settings *settings, bool json,
                         mo_out *out)
{
    const mo_portfolio_member *e = most_informative_member(selection, c);

    if (e->evaluated) {
        mo_report_verdict report = mo_review_report(&selector->review);

        report.settings = settings;
        report.evaluation = &e->evaluation;
        report.solver = name_of(e);
        report.status = selection->best ? selection->status : "invalid";
        report.seconds = c->seconds;
        report.cross_check_s = c->cross_check_s;
        report.refuted = selection->doubt;
        report.model = selector->is_emitted ? "as emitted" : as_given;
        if (selection->best) {
            report.claimed_by =
                selection->claimed_by[0] ? selection->claimed_by : NULL;
            report.confirmed_by = selection->confirmed_by;
            report.bound_ns = selection->bound.bound_ns;
            report.bound_by = selection->bound.by;
            report.bound_claimed = !selection->bound.recomputed;
            report.own_bound_ns = selection->own.bound_ns;
            report.own_bound_by = selection->own.by;
        } else {
            report.bound_ns = e->evaluation.lower.bound_ns;
            report.bound_by = e->evaluation.lower.which;
        }
        if (json)
            mo_report_verdict_json(&report, out);
        else
            mo_report_verdict_text(&report, out);
    } else
        report_claimed(selection, selector, e, c->seconds, json, out);
    if (!json)
        mo_out_printf(out, "%-12s%s, %.2f s\n", "solver",
                      mo_portfolio_member_title(e), c->seconds);
    if (!json && selection->claimed_by[0] && selection->confirmed_by)
        mo_out_printf(out, "%-12sby %s, %.2f s\n", "confirmed",
                      selection->confirmed_by, c->cross_check_s);
}

int mo_cli_solve_exit_status(const mo_answer_selection *selection)
{
    if (selection->best)
        return MO_EXIT_DONE;
    return selection->broken ? MO_EXIT_VIOLATION : MO_EXIT_NO_SOLUTION;
}

mo_status mo_cli_list_solvers(const mo_portfolio_options *options, bool json,
                              mo_out *out, mo_error *err)
{
    enum { MOST = MO_PORTFOLIO_MAX + MO_REGISTRY_MAX };
    solver_row rows[MOST] = { { 0 } };
    mo_solver_install found[MOST] = { { 0 } };
    mo_status status = MO_OK;
    int n = 0;

    for (; n < MOST && mo_solver_at(n) && status == MO_OK; n++) {
        const mo_solver *solver = mo_solver_at(n);

        rows[n] = (solver_row){ solver, &found[n] };
        if (solver->command_template)
            continue;
        status = solver->find(options->path, &found[n], NULL);
        if (status == MO_OK)
            status = mo_solver_query_version(solver, MO_SOLVER_VIA_PROCESS,
                                             &found[n], err);
        if (status == MO_OK)
            status = mo_solver_query_version(solver, MO_SOLVER_VIA_LIBRARY,
                                             &found[n], err);
        /* One that cannot be run is no error of the others. */
        if (status != MO_E_MEMORY)
            status = MO_OK;
    }
    if (status == MO_OK && json)
        print_solvers_json(rows, n, out);
    else if (status == MO_OK)
        print_solvers_text(rows, n, out);
    for (int i = 0; i < n; i++)
        mo_solver_install_clear(&found[i]);
    return status;
}
