/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "models/sink/variable.h"
#include "solvers/answer/answer_decoder.h"

mo_status mo_answer_fail_index(const mo_solution_value *column,
                               const char *what, int number, int64_t n,
                               mo_error *err)
{
    return mo_fail(err, MO_E_INPUT,
                   "column %.60s is about %s %d, but there are only %" PRId64
                   "; is it "
                   "the solution of another graph or cluster?",
                   column->name, what, number, n);
}

mo_status mo_answer_fail_duplicate(const mo_solution_value *column,
                                   mo_error *err)
{
    return mo_fail(err, MO_E_INPUT, "column %.60s is there twice",
                   column->name);
}

bool mo_answer_is_one(const mo_answer_decoder *a, double value)
{
    return value >= 1 - a->tolerance && value <= 1 + a->tolerance;
}

static bool is_zero(const mo_answer_decoder *a, double value)
{
    return value >= -a->tolerance && value <= a->tolerance;
}

static mo_status decode_placement_column(mo_answer_decoder *a,
                                         const mo_solution_value *column,
                                         const mo_column_name *name,
                                         mo_error *err)
{
    int op = name->number[0], device = name->number[1], k = a->x->n_devices;
    bool *seen;
    const mo_instance *x;

    if (op >= a->x->n)
        return mo_answer_fail_index(column, "op", op, a->x->n, err);
    if (device >= k)
        return mo_answer_fail_index(column, "device", device, k, err);
    seen = &a->seen[(int64_t) op * k + device];
    if (*seen)
        return mo_answer_fail_duplicate(column, err);
    *seen = true;
    if (is_zero(a, column->value))
        return MO_OK;
    x = a->x;
    if (!mo_answer_is_one(a, column->value))
        return mo_fail(err, MO_E_INPUT,
                       "(1c) op '%.200s' is on %.60s only in part: %s is %g",
                       x->op_names[op], x->device_ids[device], column->name,
                       column->value);
    if (a->device[op] != MO_FREE)
        return mo_fail(err, MO_E_INPUT,
                       "(1c) op '%.200s' is on two devices, %.60s and %.60s",
                       x->op_names[op], x->device_ids[a->device[op]],
                       x->device_ids[device]);
    a->device[op] = device;
    return MO_OK;
}

bool mo_answer_is_time(const mo_answer_decoder *a, double value)
{
    return fabs(value * a->unit_ns) <= (double) MO_MAX_TOTAL_NS;
}

mo_status mo_answer_store_time(const mo_answer_decoder *a,
                               const mo_solution_value *column, double *time,
                               mo_error *err)
{
    if (!isnan(*time))
        return mo_answer_fail_duplicate(column, err);
    if (!mo_answer_is_time(a, column->value))
        return mo_fail(err, MO_E_INPUT, "column %.60s is %g, which is no time",
                       column->name, column->value);
    *time = column->value;
    return MO_OK;
}

/* Sets whether column k is 1: the incumbent is all of the solution, or no part
 * of it. */
static mo_status decode_incumbent_column(mo_answer_decoder *a, mo_error *err)
{
    bool seen = false;

    for (int i = 0; i < a->solution->n; i++) {
        const mo_solution_value *column = &a->solution->values[i];

        if (column->name[0] != MO_VARIABLE_ROLE_INCUMBENT ||
            column->name[1] != '\0')
            continue;
        if (seen)
            return mo_answer_fail_duplicate(column, err);
        seen = true;
        a->is_incumbent = mo_answer_is_one(a, column->value);
        if (!a->is_incumbent && !is_zero(a, column->value))
            return mo_fail(err, MO_E_INPUT,
                           "column k is %g, not 0 or 1: the known schedule is "
                           "the solution, or no part of it",
                           column->value);
    }
    return MO_OK;
}

static mo_status decode_op_column(mo_answer_decoder *a,
                                  const mo_solution_value *column,
                                  const mo_column_name *name, mo_error *err)
{
    int op = name->number[0];
    bool incumbent = name->role == MO_VARIABLE_ROLE_INCUMBENT_START;

    if (name->role == MO_VARIABLE_ROLE_PLACE && name->n == 2)
        return decode_placement_column(a, column, name, err);
    if (name->role == MO_VARIABLE_ROLE_MAKESPAN && name->n == 0)
        return mo_answer_store_time(a, column, &a->w, err);
    if ((!incumbent && name->role != MO_VARIABLE_ROLE_START) || name->n != 1)
        return MO_OK;
    if (op >= a->x->n)
        return mo_answer_fail_index(column, "op", op, a->x->n, err);
    return mo_answer_store_time(
        a, column, incumbent == a->is_incumbent ? &a->start[op] : &a->other[op],
        err);
}

static bool has_times(const mo_answer_decoder *a)
{
    bool found = !isnan(a->w);

    for (int i = 0; i < a->x->n && !found; i++)
        found = !isnan(a->start[i]) || !isnan(a->other[i]);
    return found;
}

/* A file of the integer columns alone, as Gurobi's .mst, lacks x_i_k where the
 * model has it as the sum of v_i_k and k. Without the incumbent that is
 * v_i_k. */
static mo_status decode_free_place(mo_answer_decoder *a,
                                   const mo_solution_value *column,
                                   const mo_column_name *name, mo_error *err)
{
    int op = name->number[0], device = name->number[1], k = a->x->n_devices;

    if (name->role != MO_VARIABLE_ROLE_FREE_PLACE || name->n != 2 ||
        (op < a->x->n && device < k && a->seen[(int64_t) op * k + device]))
        return MO_OK;
    return decode_placement_column(a, column, name, err);
}

mo_status mo_answer_each_column(mo_answer_decoder *a,
                                mo_answer_column_handler *take, mo_error *err)
{
    mo_status status = MO_OK;

    for (int i = 0; i < a->solution->n && status == MO_OK; i++) {
        const mo_solution_value *column = &a->solution->values[i];
        mo_column_name name;

        if (mo_column_name_parse(column->name, &name))
            status = take(a, column, &name, err);
    }
    return status;
}

static mo_status alloc_decoder(mo_answer_decoder *a, mo_error *err)
{
    size_t n = (size_t) a->x->n, k = (size_t) a->x->n_devices;

    if (a->solution->nameless)
        return mo_fail(err, MO_E_INPUT,
                       "its columns have no names; let GLPK write with -o, not "
                       "-w");
    a->seen = calloc(n * k + 1, sizeof *a->seen);
    a->device = calloc(n + 1, sizeof *a->device);
    a->start = calloc(n + 1, sizeof *a->start);
    a->other = calloc(n + 1, sizeof *a->other);
    if (!a->seen || !a->device || !a->start || !a->other)
        return mo_fail_memory(err);
    for (size_t i = 0; i < n; i++) {
        a->device[i] = MO_FREE;
        a->start[i] = a->other[i] = NAN;
    }
    a->w = NAN;
    return MO_OK;
}

void mo_answer_decoder_clear(mo_answer_decoder *a)
{
    free(a->claimed);
    free(a->other);
    free(a->start);
    free(a->device);
    free(a->seen);
}

mo_status mo_answer_decode_ops(mo_answer_decoder *a, mo_error *err)
{
    mo_status status = alloc_decoder(a, err);
    int first = MO_FREE, n = 0;

    if (status == MO_OK)
        status = decode_incumbent_column(a, err);
    if (status == MO_OK)
        status = mo_answer_each_column(a, decode_op_column, err);
    if (status == MO_OK && !a->is_incumbent && !has_times(a))
        status = mo_answer_each_column(a, decode_free_place, err);
    if (status != MO_OK)
        return status;
    for (int i = a->x->n - 1; i >= 0; i--)
        if (a->device[i] == MO_FREE) {
            first = i;
            n++;
        }
    if (n == 0)
        return MO_OK;
    if (a->is_incumbent)
        return mo_fail(err, MO_E_INPUT,
                       "(1c) column k is 1, for the schedule known to the "
                       "model, but op '%.200s' is on no device; write all "
                       "columns, not the integer ones alone",
                       a->x->op_names[first]);
    if (n == a->x->n)
        return mo_fail(err, MO_E_INPUT,
                       "(1c) no op is on any device; is it a solution of a "
                       "model from moirai-emit?");
    if (n == 1)
        return mo_fail(err, MO_E_INPUT, "(1c) op '%.200s' is on no device",
                       a->x->op_names[first]);
    return mo_fail(err, MO_E_INPUT,
                   "(1c) op '%.200s' and %d more are on no device",
                   a->x->op_names[first], n - 1);
}
