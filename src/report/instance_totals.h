/* SPDX-License-Identifier: Apache-2.0 */
/*
 * instance_totals.h - totals of an instance; internal to src/report.
 */
#ifndef MO_REPORT_INSTANCE_TOTALS_H
#define MO_REPORT_INSTANCE_TOTALS_H

#include "cost/instance.h"

typedef struct mo_report_instance_totals {
    int64_t memory_bytes;
    int64_t *time_ns;     /* by device: sum over all ops */
    int64_t *transfer_ns; /* by pair class: sum over all flows */
    int n_pinned, n_grouped;
} mo_report_instance_totals;

mo_status mo_report_instance_totals_make(const mo_instance *x,
                                         mo_report_instance_totals *sums,
                                         mo_error *err);
void mo_report_instance_totals_clear(mo_report_instance_totals *sums);

/* Returns the time of sending every flow from a to b. */
static inline int64_t
mo_report_instance_totals_pair_ns(const mo_report_instance_totals *sums,
                                  const mo_instance *x, int a, int b)
{
    return sums->transfer_ns[x->pair_kind[(int64_t) a * x->n_devices + b]];
}

#endif
