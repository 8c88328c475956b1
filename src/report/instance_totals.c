/* SPDX-License-Identifier: Apache-2.0 */
#include "report/instance_totals.h"

#include <stdlib.h>

static void add_ops(const mo_instance *x, mo_report_instance_totals *sums)
{
    const int64_t *ns = x->p_ns;

    for (int i = 0; i < x->n; i++) {
        for (int k = 0; k < x->n_devices; k++)
            sums->time_ns[k] += *ns++;
        sums->memory_bytes += x->memory_bytes[i];
        sums->n_pinned += x->pin[i] != MO_FREE;
        sums->n_grouped += x->group[i] != MO_FREE;
    }
}

/* Flows of one row are counted first, since they are many. */
static mo_status add_flows(const mo_instance *x,
                           mo_report_instance_totals *sums, mo_error *err)
{
    const int64_t *ns = x->comm_ns;
    int *count = calloc((size_t) x->n_comm_rows + 1, sizeof *count);

    if (!count)
        return mo_fail_memory(err);
    for (int q = 0; q < x->n_flows; q++)
        count[x->flow_row[q]]++;
    for (int r = 0; r < x->n_comm_rows; r++)
        for (int kind = 0; kind < x->n_kinds; kind++)
            sums->transfer_ns[kind] += count[r] * *ns++;
    free(count);
    return MO_OK;
}

mo_status mo_report_instance_totals_make(const mo_instance *x,
                                         mo_report_instance_totals *sums,
                                         mo_error *err)
{
    mo_status status;

    *sums = (mo_report_instance_totals){ 0 };
    sums->time_ns = calloc((size_t) x->n_devices, sizeof *sums->time_ns);
    sums->transfer_ns = calloc((size_t) x->n_kinds, sizeof *sums->transfer_ns);
    if (!sums->time_ns || !sums->transfer_ns) {
        status = mo_fail_memory(err);
    } else {
        add_ops(x, sums);
        status = add_flows(x, sums, err);
    }
    if (status != MO_OK)
        mo_report_instance_totals_clear(sums);
    return status;
}

void mo_report_instance_totals_clear(mo_report_instance_totals *sums)
{
    free(sums->time_ns);
    free(sums->transfer_ns);
    *sums = (mo_report_instance_totals){ 0 };
}
