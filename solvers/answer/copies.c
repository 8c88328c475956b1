/* SPDX-License-Identifier: Apache-2.0 */
/* Further copies of a replicated placement: columns r_<copy>_<op>_<device>, and
 * the evaluation of all copies together. */
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "models/sink/variable.h"
#include "schedule/period/replicas.h"
#include "solvers/answer/answer.h"
#include "solvers/answer/column_name.h"
#include "solvers/answer/evaluation.h"

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

mo_status mo_answer_evaluation_combine(const mo_instance *x,
                                       const mo_regime *regime,
                                       mo_answer_evaluation *e,
                                       int64_t *load_ns, mo_error *err)
{
    int n = 1 + e->n_further, shared;
    int64_t own_steady_ns = e->steady_ns;
    mo_replica *copies = calloc((size_t) n, sizeof *copies);
    mo_status status = copies ? MO_OK : mo_fail_memory(err);

    for (int steady = 1; steady >= 0 && status == MO_OK; steady--) {
        for (int c = 0; c < n; c++) {
            const mo_answer_evaluation *one = c == 0 ? e : &e->further[c - 1];

            copies[c].device = one->schedule->device;
            copies[c].period_ns = steady ? one->steady_ns : one->period_ns;
        }
        status = mo_replicas_period(x, regime, copies, n,
                                    steady ? &e->steady_ns : load_ns, err);
    }
    if (status == MO_OK) {
        shared = mo_replicas_shared_device(x, copies, n);
        if (shared != MO_FREE && !e->first_error[0])
            snprintf(e->first_error, sizeof e->first_error,
                     "two copies share device '%.100s'", x->device_ids[shared]);
        e->own_period_ns = e->period_ns;
        e->own_steady_ns = own_steady_ns;
        e->period_ns = *load_ns;
        e->lower.bound_ns = mo_replicas_least_ns(x);
    }
    free(copies);
    return status;
}

mo_status mo_answer_evaluation_take_copy(mo_answer_evaluation *e, int64_t copy,
                                         mo_error *err)
{
    int n = 1 + e->n_further;
    mo_answer_evaluation one;

    if (copy > n)
        return mo_fail(err, MO_E_USAGE,
                       "--copy %lld: there are %d copies of the network",
                       (long long) copy, n);
    if (copy == 0 && n > 1)
        return mo_fail(err, MO_E_USAGE,
                       "the solution has %d copies of the network; choose one "
                       "with --copy 1 to --copy %d",
                       n, n);
    if (n == 1 || e->own_period_ns == 0)
        return MO_OK;
    if (copy > 1) {
        one = e->further[copy - 2];
        e->further[copy - 2] = (mo_answer_evaluation){ 0 };
        memcpy(one.first_error, e->first_error, sizeof one.first_error);
        mo_answer_evaluation_clear(e);
        *e = one;
        e->own_period_ns = e->period_ns;
        e->own_steady_ns = e->steady_ns;
        return MO_OK;
    }
    while (e->n_further > 0)
        mo_answer_evaluation_clear(&e->further[--e->n_further]);
    e->period_ns = e->own_period_ns;
    e->steady_ns = e->own_steady_ns;
    e->claim_ns = MO_ANSWER_NO_CLAIM;
    return MO_OK;
}
