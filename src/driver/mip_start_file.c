/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "driver/mip_start_file.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/out.h"
#include "solvers/formats/solution.h"

static const char *const names[] = { [MO_MIP_START_MIPLIB] = "start.sol",
                                     [MO_MIP_START_GUROBI] = "start.mst",
                                     [MO_MIP_START_CBC] = "start.cbc" };

static double objective_of(const mo_solution *s)
{
    for (int i = 0; i < s->n && !s->has_objective; i++)
        if (strcmp(s->values[i].name, "w") == 0)
            return s->values[i].value;
    return s->has_objective ? s->objective : 0;
}

/* Solvers read no infinite value of a column, or stop at one. */
static mo_status check_finite(const mo_solution *s, const char *path,
                              mo_error *err)
{
    for (int i = 0; i < s->n; i++)
        if (!isfinite(s->values[i].value))
            return mo_fail_at(err, MO_E_INPUT, path, s->values[i].line,
                              "column '%.80s' is infinite; a start needs "
                              "finite values",
                              s->values[i].name);
    return MO_OK;
}

static void write_start(const mo_solution *s, mo_mip_start_layout layout,
                        mo_out *out)
{
    static const char *const openings[] = { [MO_MIP_START_MIPLIB] = "=obj= ",
                                            [MO_MIP_START_GUROBI] =
                                                "# MIP start of objective ",
                                            [MO_MIP_START_CBC] =
                                                "Start - objective value " };

    mo_out_text(out, openings[layout]);
    mo_out_double(out, objective_of(s));
    mo_out_char(out, '\n');
    for (int i = 0; i < s->n; i++) {
        const mo_solution_value *column = &s->values[i];

        if (layout == MO_MIP_START_CBC)
            mo_out_printf(out, "%d ", i);
        mo_out_text(out, column->name);
        mo_out_char(out, ' ');
        mo_out_double(out, column->value);
        mo_out_text(out, layout == MO_MIP_START_CBC ? " 0\n" : "\n");
    }
}

static mo_status write_file(const mo_solution *s, mo_mip_start_layout layout,
                            const char *path, mo_error *err)
{
    mo_out *out;
    mo_status status = mo_out_open(path, &out, err);

    if (status != MO_OK)
        return status;
    write_start(s, layout, out);
    return mo_out_commit(out, err);
}

mo_status mo_mip_start_file_convert(const char *path, const mo_solver *solver,
                                    const char *folder,
                                    const mo_driver_log *logger, char **copy,
                                    mo_error *err)
{
    mo_mip_start_layout layout =
        solver ? solver->start_layout : MO_MIP_START_MIPLIB;
    size_t size = strlen(folder) + strlen(names[layout]) + 2;
    char *to;
    mo_status status;
    mo_solution *solution = NULL;

    *copy = NULL;
    if (solver && !solver->accepts_start) {
        if (!logger->quiet)
            fprintf(stderr, "%s: %s reads no starts\n", logger->command,
                    solver->title);
        return MO_OK;
    }
    to = malloc(size);
    if (!to)
        return mo_fail_memory(err);
    snprintf(to, size, "%s.%s", folder, names[layout]);
    status = mo_solution_read(path, &solution, err);
    if (status == MO_OK && (solution->nameless || solution->n == 0))
        status = mo_fail_at(err, MO_E_INPUT, path, 0,
                            "has no columns to start from");
    if (status == MO_OK)
        status = check_finite(solution, path, err);
    if (status == MO_OK)
        status = write_file(solution, layout, to, err);
    mo_solution_free(solution);
    if (status == MO_OK)
        *copy = to;
    else
        free(to);
    return status;
}
