/* SPDX-License-Identifier: Apache-2.0 */
/* Further copies of a replicated placement: columns r_<copy>_<op>_<device>. */
#include <limits.h>
#include <math.h>

#include "models/sink/variable.h"
#include "solvers/answer/answer.h"
#include "solvers/answer/column_name.h"

static bool is_further(const mo_solution_value *column, mo_column_name *name)
{
    return column->name && mo_column_name_parse(column->name, name) &&
           name->role == MO_VARIABLE_ROLE_REPLICA && name->n == 3;
}

int mo_answer_n_copies(const mo_solution *solution)
{
    mo_column_name name;
    int last = 0;

    for (int i = 0; i < solution->n; i++)
        if (is_further(&solution->values[i], &name) && name.number[0] > last)
            last = name.number[0];
    return last < INT_MAX ? last + 1 : last;
}

static mo_status decode_column(const mo_solution_value *column,
                               const mo_column_name *name, const mo_instance *x,
                               double tolerance, int *device, mo_error *err)
{
    int op = name->number[1], k = name->number[2];

    if (op >= x->n || k >= x->n_devices)
        return mo_fail(err, MO_E_INPUT,
                       "column %.60s is about an op or device that there is "
                       "not",
                       column->name);
    if (fabs(column->value) <= tolerance)
        return MO_OK;
    if (!(fabs(column->value - 1) <= tolerance))
        return mo_fail(err, MO_E_INPUT, "(1c) column %.60s is %g, not 0 or 1",
                       column->name, column->value);
    if (device[op] != MO_FREE)
        return mo_fail(err, MO_E_INPUT,
                       "(1c) copy %d has op '%.200s' on two devices, or twice",
                       name->number[0] + 1, x->op_names[op]);
    device[op] = k;
    return MO_OK;
}

mo_status mo_answer_copy(const mo_solution *solution, const mo_instance *x,
                         double tolerance, int copy, int *device, mo_error *err)
{
    mo_column_name name;
    mo_status status = MO_OK;

    for (int i = 0; i < x->n; i++)
        device[i] = MO_FREE;
    for (int i = 0; i < solution->n && status == MO_OK; i++)
        if (is_further(&solution->values[i], &name) && name.number[0] == copy)
            status = decode_column(&solution->values[i], &name, x, tolerance,
                                   device, err);
    for (int i = 0; i < x->n && status == MO_OK; i++)
        if (device[i] == MO_FREE)
            status = mo_fail(err, MO_E_INPUT,
                             "(1c) copy %d has op '%.200s' on no device",
                             copy + 1, x->op_names[i]);
    return status;
}
