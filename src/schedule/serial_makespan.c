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

/* Lengths are bounded when the instance is made, and so is their sum as long
 * as each flow is sent separately.  A tensor that goes to many devices at the
 * speed of its slowest flow may take longer than all its flows. */
static bool add_times(int64_t *sum_ns, int64_t length_ns, int64_t times)
{
    return mo_int64_mul(length_ns, times, &length_ns) &&
           mo_int64_add(*sum_ns, length_ns, sum_ns) && *sum_ns <= INT64_MAX / 2;
}

mo_status mo_serial_makespan(const mo_instance *x, const mo_regime *regime,
                             int64_t *serial_ns, mo_error *err)
{
    /* The longest time of each row of transfer times, which many flows share.
     */
    int64_t *row_ns = calloc((size_t) x->comm.n_rows + 1, sizeof *row_ns);
    const int64_t *ns = x->comm.ns;
    int64_t sum_ns = 0;
    bool fits;

    for (int r = 0; r < x->comm.n_rows && row_ns; r++)
        for (int kind = 0; kind < x->comm.n_kinds; kind++, ns++)
            if (*ns > row_ns[r])
                row_ns[r] = *ns;
    if (!row_ns)
        return mo_fail_memory(err);
    fits = true;

    for (int i = 0; i < x->n && fits; i++)
        fits = add_times(&sum_ns, longest_op_ns(x, i), 1);
    if (regime->tensors == MO_TENSORS_ONCE)
        for (int t = 0; t < x->n_tensors && fits; t++) {
            /* The largest number of devices to which a tensor could be sent. */
            int readers = x->tensor_start[t + 1] - x->tensor_start[t];

            fits =
                add_times(&sum_ns, row_ns[x->comm.tensor_row[t]],
                          readers < x->n_devices ? readers : x->n_devices - 1);
        }
    else
        for (int q = 0; q < x->n_flows && fits; q++)
            fits = add_times(&sum_ns, row_ns[x->comm.flow_row[q]], 1);
    free(row_ns);
    if (!fits)
        return mo_fail(err, MO_E_INPUT,
                       "all ops, and all tensors sent to all devices, take "
                       "more than 4 * 10^15 us (146 years) together; are "
                       "their times in microseconds?");
    *serial_ns = sum_ns;
    return MO_OK;
}
