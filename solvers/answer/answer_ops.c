/* SPDX-License-Identifier: Apache-2.0 */
/* First pass over the columns: device and start of every op. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "models/sink/variable.h"
#include "solvers/answer/answer_internal.h"

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

static mo_status place(mo_answer_decoder *a, const mo_solution_value *column,
                       int op, int device, mo_error *err)
{
    const mo_instance *x = a->x;

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

static mo_status take_place(mo_answer_decoder *a,
                            const mo_solution_value *column,
                            const mo_column_name *name, mo_error *err)
{
    int op = name->number[0], device = name->number[1], k = a->x->n_devices;
    bool *seen;

    if (op >= a->x->n)
        return mo_answer_fail_index(column, "op", op, a->x->n, err);
    if (device >= k)
        return mo_answer_fail_index(column, "device", device, k, err);
    seen = &a->seen[(int64_t) op * k + device];
    if (*seen)
        return mo_answer_fail_duplicate(column, err);
    *seen = true;
    return is_zero(a, column->value) ? MO_OK
                                     : place(a, column, op, device, err);
}

/* Times are limited to MO_MAX_TOTAL_NS; a NAN fails, too. */
bool mo_answer_is_time(const mo_answer_decoder *a, double value)
{
    return fabs(value * a->unit_ns) <= (double) MO_MAX_TOTAL_NS;
}

mo_status mo_answer_parse_time(const mo_answer_decoder *a,
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

static mo_status take_op_column(mo_answer_decoder *a,
                                const mo_solution_value *column,
                                const mo_column_name *name, mo_error *err)
{
    int op = name->number[0];

    if (name->role == MO_VARIABLE_ROLE_PLACE && name->n == 2)
        return take_place(a, column, name, err);
    if (name->role == MO_VARIABLE_ROLE_MAKESPAN && name->n == 0)
        return mo_answer_parse_time(a, column, &a->w, err);
    if (name->role != MO_VARIABLE_ROLE_START || name->n != 1)
        return MO_OK;
    if (op >= a->x->n)
        return mo_answer_fail_index(column, "op", op, a->x->n, err);
    return mo_answer_parse_time(a, column, &a->start[op], err);
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

static mo_status check_all_placed(const mo_answer_decoder *a, mo_error *err)
{
    int first = MO_FREE, n = 0;

    for (int i = a->x->n - 1; i >= 0; i--)
        if (a->device[i] == MO_FREE) {
            first = i;
            n++;
        }
    if (n == 0)
        return MO_OK;
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

static mo_status open_answer(mo_answer_decoder *a, mo_error *err)
{
    size_t n = (size_t) a->x->n, k = (size_t) a->x->n_devices;

    if (a->solution->nameless)
        return mo_fail(err, MO_E_INPUT,
                       "its columns have no names; let GLPK write with -o, not "
                       "-w");
    a->seen = calloc(n * k + 1, sizeof *a->seen);
    a->device = calloc(n + 1, sizeof *a->device);
    a->start = calloc(n + 1, sizeof *a->start);
    if (!a->seen || !a->device || !a->start)
        return mo_fail_memory(err);
    for (size_t i = 0; i < n; i++) {
        a->device[i] = MO_FREE;
        a->start[i] = NAN;
    }
    a->w = NAN;
    return MO_OK;
}

void mo_answer_decoder_clear(mo_answer_decoder *a)
{
    free(a->claimed);
    free(a->start);
    free(a->device);
    free(a->seen);
}

mo_status mo_answer_decode_ops(mo_answer_decoder *a, mo_error *err)
{
    mo_status status = open_answer(a, err);

    if (status == MO_OK)
        status = mo_answer_each_column(a, take_op_column, err);
    if (status == MO_OK)
        status = check_all_placed(a, err);
    return status;
}

mo_status mo_answer_placement(const mo_solution *solution, const mo_instance *x,
                              double tolerance, int *device, mo_error *err)
{
    mo_answer_decoder a = {
        .solution = solution, .x = x, .unit_ns = 1, .tolerance = tolerance
    };
    mo_status status = mo_answer_decode_ops(&a, err);

    for (int i = 0; i < x->n && status == MO_OK; i++)
        device[i] = a.device[i];
    mo_answer_decoder_clear(&a);
    return status;
}
