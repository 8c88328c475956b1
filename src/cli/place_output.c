/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "cli/place_output.h"

#include <string.h>

#include "driver/placement_solution.h"

mo_status mo_cli_place_write(const mo_place_comparison *c,
                             const mo_prepared *made, int64_t in_flight,
                             mo_output_file *output, mo_error *err)
{
    const mo_place_result *best = mo_place_comparison_best(c);
    mo_place_solution solution = { .x = made->loaded.instance,
                                   .made_of = made->o,
                                   .bound_ns = c->report.bound_ns };
    mo_status status;

    if (!output->out || !best) {
        mo_output_files_discard(output, 1);
        return MO_OK;
    }
    solution.schedule = best->placed.schedule;
    solution.method = best->method->name;
    solution.made_of.in_flight = in_flight;
    if (best->row.steady_ns > 0) {
        solution.objective = MO_OBJECTIVE_PERIOD;
        solution.period_ns = best->row.makespan_ns;
    }
    status = mo_place_solution_write(&solution, output->out, err);
    return status == MO_OK ? mo_output_files_commit(output, 1, err) : status;
}

mo_status mo_cli_place_report(const mo_place_comparison *c,
                              const mo_output_file *solution, bool json,
                              mo_error *err)
{
    const char *path = solution->path;
    bool to_stdout = path && strcmp(path, "-") == 0;
    mo_out *out;
    mo_status status = mo_out_open(to_stdout ? "/dev/stderr" : "-", &out, err);

    if (status != MO_OK)
        return status;
    if (json)
        mo_report_methods_json(&c->report, out);
    else
        mo_report_methods_text(&c->report, out);
    if (path && !to_stdout && !json && mo_place_comparison_best(c))
        mo_out_printf(out, "written to %s\n", path);
    return mo_out_commit(out, err);
}
