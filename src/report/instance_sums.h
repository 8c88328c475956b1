/*
 * instance_sums.h - what adds up over an instance; for this room only.
 */
#ifndef MO_REPORT_INSTANCE_SUMS_H
#define MO_REPORT_INSTANCE_SUMS_H

#include "cost/instance.h"

/* All ops on one device, in nanoseconds.  A double: sums need not fit. */
double mo_instance_time_ns(const mo_instance *x, int device);

/* Every flow sent from a to b. */
double mo_instance_transfer_ns(const mo_instance *x, int a, int b);

double mo_instance_memory_bytes(const mo_instance *x);

#endif
