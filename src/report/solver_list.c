/* SPDX-License-Identifier: Apache-2.0 */
#include "report/solver_list.h"

#include <stdbool.h>

static bool has_library(const mo_report_solver_row *row)
{
    return row->found->library && row->solver->solve;
}

static const char *ways_of(const mo_report_solver_row *row)
{
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

        mo_out_printf(out, "%-8s%-10s%-18s%s\n", solver->name,
                      here ? version_of(found) : "not found", ways_of(&rows[i]),
                      solver->help);
        put_path("program", found->program, out);
        put_path("library", has_library(&rows[i]) ? found->library : NULL, out);
        put_path("but", found->defect, out);
    }
}

static void put_text(const char *key, const char *value, mo_out *out)
{
    mo_out_printf(out, ", \"%s\": ", key);
    if (value)
        mo_out_json(out, value);
    else
        mo_out_text(out, "null");
}

static void put_limits(unsigned limits, mo_out *out)
{
    static const char *const names[] = { "time", "gap", "threads", "memory" };
    bool any = false;

    mo_out_text(out, ", \"limits\": [");
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
        if (limits & 1U << i) {
            mo_out_printf(out, "%s\"%s\"", any ? ", " : "", names[i]);
            any = true;
        }
    mo_out_text(out, "]");
}

void mo_report_solvers_json(const mo_report_solver_row *rows, int n,
                            mo_out *out)
{
    mo_out_text(out, "[");
    for (int i = 0; i < n; i++) {
        const mo_solver_install *found = rows[i].found;

        mo_out_printf(out, "%s\n  {\"solver\": ", i > 0 ? "," : "");
        mo_out_json(out, rows[i].solver->name);
        put_text("version",
                 found->version ? found->version : found->library_version, out);
        put_text("program", found->program, out);
        put_text("library", has_library(&rows[i]) ? found->library : NULL, out);
        put_text("trouble", found->defect, out);
        put_limits(rows[i].solver->limits, out);
        mo_out_printf(out, ", \"starts\": %s}",
                      rows[i].solver->accepts_start ? "true" : "false");
    }
    mo_out_text(out, "\n]\n");
}
