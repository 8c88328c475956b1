/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "driver/placement_solution.h"

#include <limits.h>

#include "driver/file_hints.h"
#include "models/formulation.h"
#include "models/transfer_number.h"
#include "models/sink/variable.h"

/* The unit of all times. */
enum { US_NS = 1000 };

typedef struct writer {
    const mo_instance *x;
    const mo_schedule *s;
    int64_t unit_ns;
    mo_out *out;
} writer;

/* Returns the nearest double; it reads back as the same nanosecond for more
 * than a month. */
static double in_units(const writer *w, int64_t ns)
{
    return (double) ns / (double) w->unit_ns;
}

static void put_value(const writer *w, double value)
{
    mo_out_char(w->out, ' ');
    mo_out_double(w->out, value);
    mo_out_char(w->out, '\n');
}

static void put_column(const writer *w, mo_variable_role role, int i, int j,
                       int k, double value)
{
    const mo_variable column = { .role = role, .number = { i, j, k } };
    char name[MO_VARIABLE_NAME];

    mo_out_bytes(w->out, name, mo_variable_name(&column, name));
    put_value(w, value);
}

static void put_send(const writer *w, int number, const mo_transfer *t)
{
    put_column(w, MO_VARIABLE_ROLE_SEND, number, 0, 0,
               in_units(w, t->start_ns));
    put_column(w, MO_VARIABLE_ROLE_CHANNEL, number, t->from, t->to, 1);
}

static bool has_period(const mo_place_solution *solution)
{
    return solution->objective == MO_OBJECTIVE_PERIOD;
}

/* A period without a limit in flight, or live memory, follows from the
 * placement alone. */
static bool has_times(const mo_place_solution *solution)
{
    return !has_period(solution) || solution->made_of.in_flight > 0 ||
           solution->schedule->regime.memory == MO_MEMORY_LIVE;
}

static int64_t objective_of(const mo_place_solution *solution)
{
    return has_period(solution) ? solution->period_ns
                                : solution->schedule->makespan_ns;
}

static mo_status put_files(const writer *w, const mo_place_solution *solution,
                           mo_error *err)
{
    mo_path_list files = { 0 };
    mo_status status = solution->output
                           ? mo_file_hints_list(&solution->made_of,
                                                solution->output, &files, err)
                           : MO_OK;

    for (size_t i = 0; i < files.n && status == MO_OK; i++)
        mo_out_printf(w->out, "# file: %s\n", files.paths[i]);
    mo_path_list_clear(&files);
    return status;
}

static void put_heading(const writer *w, const mo_place_solution *solution)
{
    int64_t makespan_ns = objective_of(solution);
    int64_t bound_ns = solution->bound_ns;

    mo_out_text(w->out, "# Solution for model moirai\n# Objective value =");
    put_value(w, in_units(w, makespan_ns));
    mo_out_printf(w->out, "# status: %s\n",
                  bound_ns >= makespan_ns ? "optimal" : "feasible");
    mo_out_printf(w->out, "# method: %s\n", solution->method);
    if (bound_ns == 0)
        return;
    mo_out_text(w->out, "# bound:");
    put_value(w, in_units(w, bound_ns));
}

mo_status mo_place_solution_write(const mo_place_solution *solution,
                                  mo_out *out, mo_error *err)
{
    const mo_schedule *s = solution->schedule;
    const writer w = { solution->x, s, US_NS, out };
    mo_identity_options made_of = solution->made_of;
    mo_identity identity;
    mo_status status;

    if (mo_transfer_number_limit(w.x, &s->regime) > INT_MAX)
        return mo_fail(err, MO_E_LIMIT,
                       "more transfers than a solution has numbers for");
    put_heading(&w, solution);
    status = put_files(&w, solution, err);
    if (status != MO_OK)
        return status;
    put_column(&w, MO_VARIABLE_ROLE_MAKESPAN, 0, 0, 0,
               in_units(&w, objective_of(solution)));
    for (int i = 0; i < w.s->n; i++)
        put_column(&w, MO_VARIABLE_ROLE_PLACE, i, w.s->device[i], 0, 1);
    for (int c = 0; c < solution->n_further; c++)
        for (int i = 0; i < w.s->n; i++)
            put_column(&w, MO_VARIABLE_ROLE_REPLICA, c + 1, i,
                       solution->further[c].device[i], 1);
    for (int i = 0; i < w.s->n && has_times(solution); i++)
        put_column(&w, MO_VARIABLE_ROLE_START, i, 0, 0,
                   in_units(&w, w.s->start_ns[i]));
    if (has_times(solution)) {
        bool tensors = mo_transfer_is_tensor(&w.s->regime);

        for (int i = 0; i < w.s->n_transfers; i++) {
            const mo_transfer *t = &w.s->transfers[i];

            if (tensors) {
                /* A tensor is sent once per device for all consumers there,
                 * unless it has a single consumer. */
                const int *start = w.x->tensor_start;
                bool alone = start[t->item + 1] - start[t->item] == 1;

                put_send(&w,
                         mo_transfer_number(w.x, &w.s->regime, t->item,
                                            alone ? MO_FREE : t->to),
                         t);
            } else if (w.s->regime.tensors == MO_TENSORS_ONCE) {
                /* Tensors are sent once, but columns are per flow: one for each
                 * consumer. */
                const int *start = w.x->tensor_start;

                for (int q = start[t->item]; q < start[t->item + 1]; q++)
                    if (w.s->device[w.x->flows[q].to] == t->to)
                        put_send(&w, q, t);
            } else
                put_send(&w, t->item, t);
        }
    }
    made_of.formulation = has_period(solution) ? mo_formulation_period.name
                                               : mo_formulation_compact.name;
    made_of.regime = w.s->regime;
    made_of.unit_ns = w.unit_ns;
    mo_identity_make(w.x, &made_of, &identity);
    for (int i = 0; i < identity.n; i++) {
        mo_out_text(w.out, identity.name[i]);
        put_value(&w, 1);
    }
    if (solution->proof)
        mo_proof_write(solution->proof, '#', out);
    return MO_OK;
}

mo_status mo_place_solution_save(const mo_place_solution *solution,
                                 const char *path, mo_error *err)
{
    mo_out *out;
    mo_status status = mo_out_open(path, &out, err);

    if (status != MO_OK)
        return status;
    status = mo_place_solution_write(solution, out, err);
    if (status == MO_OK)
        return mo_out_commit(out, err);
    mo_out_abandon(out);
    return status;
}
