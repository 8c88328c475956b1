/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sub_instance.h - parts of an instance: the induced subproblem of some ops,
 * and the instance without one device.
 *
 * Flows among the ops are kept, all others are dropped; so the optimum of the
 * part is a lower bound on the time that these ops take in any schedule of the
 * whole.
 */
#ifndef MO_COST_INSTANCE_SUB_INSTANCE_H
#define MO_COST_INSTANCE_SUB_INSTANCE_H

#include <stdbool.h>

#include "base/error.h"
#include "cost/instance.h"

typedef struct mo_sub_instance {
    mo_instance *x; /* ops in the order given; its pins may be changed */
    int *op;        /* by op of the part: its number in the whole */
    int *flow;      /* by flow of the part: its number in the whole */
} mo_sub_instance;

/*
 * ops are n ascending op numbers. With from_end the first takes no time and no
 * memory: the clock starts when it has ended. Colocation groups are kept among
 * the ops given, capacities are those of the whole. Rows of transfer times,
 * routes and names are shared with the whole, which must outlive the part. The
 * caller frees *part with mo_sub_instance_free(), which accepts NULL.
 */
mo_status mo_sub_instance_make(const mo_instance *whole, const int *ops, int n,
                               bool from_end, mo_sub_instance **part,
                               mo_error *err);
void mo_sub_instance_free(mo_sub_instance *part);

/* Pins op and its colocation group; returns false where one of them is pinned
 * elsewhere. */
bool mo_instance_pin_with_group(mo_instance *x, int op, int device);

/* Returns the first op that is pinned to the device, without which the
 * instance would be infeasible, or MO_FREE. */
int mo_instance_first_pinned_to(const mo_instance *whole, int device);

/*
 * Makes the instance without one device, to measure its value: the same ops,
 * times and links on all devices except that one, in their order; there must be
 * another, and no op may be pinned to it. Routes through it are unchanged: a
 * link is not removed with a device. Data independent of devices is shared with
 * the whole, which must outlive the result; the caller frees it with
 * mo_instance_free().
 */
mo_status mo_instance_without_device(const mo_instance *whole, int device,
                                     mo_instance **instance, mo_error *err);

#endif
