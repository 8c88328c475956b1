/*
 * instance_sums.h - what adds up over an instance; for this room only.
 */
#ifndef MO_REPORT_INSTANCE_TOTALS_H
#define MO_REPORT_INSTANCE_TOTALS_H

#include "cost/instance.h"

typedef struct mo_instance_sums {
    int64_t memory_bytes;
    int64_t *time_ns;     /* by device: all ops on it */
    int64_t *transfer_ns; /* by kind of pair: all flows, each sent */
    int n_pinned, n_grouped;
} mo_instance_sums;

mo_status mo_instance_sums_make(const mo_instance *x, mo_instance_sums *sums,
                                mo_error *err);
void mo_instance_sums_clear(mo_instance_sums *sums);

/* Every flow sent from a to b. */
static inline int64_t mo_instance_sums_pair_ns(const mo_instance_sums *sums,
                                               const mo_instance *x, int a,
                                               int b)
{
    return sums->transfer_ns[x->pair_kind[(int64_t) a * x->n_devices + b]];
}

#endif
