/* SPDX-License-Identifier: Apache-2.0 */
#include "report/solver_list.h"

#include <stdbool.h>

#include "base/json_writer.h"

static bool has_library(const mo_report_solver_row *row)
{
    return row->found->library && row->solver->solve;
}

static const char *ways_of(const mo_report_solver_row *row)
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

void mo_report_solvers_text(const mo_report_solver_row *rows, int n,
                            mo_out *out)
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

void mo_report_solvers_json(const mo_report_solver_row *rows, int n,
                            mo_out *out)
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
