/* SPDX-License-Identifier: Apache-2.0 */
#include "schedule/serial_makespan.h"

#include <stdbool.h>
#include <stdlib.h>

#include "base/array.h"

static int64_t longest_op_ns(const mo_instance *x, int op)
{
    int64_t longest_ns = 0;

    if (x->pin[op] != MO_FREE)
        return mo_instance_p_ns(x, op, x->pin[op]);
    for (int k = 0; k < x->n_devices; k++)
        if (mo_instance_p_ns(x, op, k) > longest_ns)
            longest_ns = mo_instance_p_ns(x, op, k);
    return longest_ns;
}

/* The longest time of each row of transfer times, which many flows share.
 * Returns NULL when memory cannot be allocated; the caller frees it. */
static int64_t *longest_row_times(const mo_instance *x)
{
    int64_t *row_ns = calloc((size_t) x->n_comm_rows + 1, sizeof *row_ns);
    const int64_t *ns = x->comm_ns;

    for (int r = 0; r < x->n_comm_rows && row_ns; r++)
        for (int kind = 0; kind < x->n_kinds; kind++, ns++)
            if (*ns > row_ns[r])
                row_ns[r] = *ns;
    return row_ns;
}

/* The largest number of devices to which a tensor could be sent. */
static int max_targets(const mo_instance *x, int tensor)
{
    int readers = x->tensor_start[tensor + 1] - x->tensor_start[tensor];

    return readers < x->n_devices ? readers : x->n_devices - 1;
}

/* Lengths are bounded when the instance is made, and so is their sum as long
 * as each flow is sent separately.  A tensor that goes to many devices at the
 * speed of its slowest flow may take longer than all its flows. */
static bool add_times(int64_t *sum_ns, int64_t length_ns, int64_t times)
{
    return mo_int64_mul(length_ns, times, &length_ns) &&
           mo_int64_add(*sum_ns, length_ns, sum_ns) && *sum_ns <= INT64_MAX / 2;
}

static bool sum_all(const mo_instance *x, const mo_regime *regime,
                    const int64_t *row_ns, int64_t *sum_ns)
{
    bool fits = true;

    for (int i = 0; i < x->n && fits; i++)
        fits = add_times(sum_ns, longest_op_ns(x, i), 1);
    if (regime->tensors == MO_TENSORS_ONCE)
        for (int t = 0; t < x->n_tensors && fits; t++)
            fits =
                add_times(sum_ns, row_ns[x->tensor_row[t]], max_targets(x, t));
    else
        for (int q = 0; q < x->n_flows && fits; q++)
            fits = add_times(sum_ns, row_ns[x->flow_row[q]], 1);
    return fits;
}

mo_status mo_serial_makespan(const mo_instance *x, const mo_regime *regime,
                             int64_t *serial_ns, mo_error *err)
{
    int64_t *row_ns = longest_row_times(x), sum_ns = 0;
    bool fits;

    if (!row_ns)
        return mo_fail_memory(err);
    fits = sum_all(x, regime, row_ns, &sum_ns);
    free(row_ns);
    if (!fits)
        return mo_fail(err, MO_E_INPUT,
                       "all ops, and all tensors sent to all devices, take "
                       "more than 4 * 10^15 us (146 years) together; are "
                       "their times in microseconds?");
    *serial_ns = sum_ns;
    return MO_OK;
}
