/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shift_state.h - serial list scheduling in the order of a schedule: what
 * left-shifts and what-if evaluations of one order share.
 *
 * Nodes are what occupies a resource: the ops, then the transfers, sorted by
 * their starts in the schedule.
 */
#ifndef MO_SCHEDULE_SHIFT_STATE_H
#define MO_SCHEDULE_SHIFT_STATE_H

#include <stdint.h>

#include "base/error.h"
#include "cost/instance.h"
#include "schedule/schedule.h"

typedef struct mo_shift_node {
    int64_t claimed_ns, length_ns;
    int depth;
    int op; /* itself, or the producer of what is sent; op numbers are
               topological */
    int number;
} mo_shift_node;

/* A device, port, channel or link.  Things that take no time exclude none of
 * their kind, so they wait only for what took time; what takes time waits for
 * all. */
typedef struct mo_shift_resource {
    int64_t busy_ns, free_ns;
} mo_shift_resource;

typedef struct mo_shift_state {
    const mo_instance *x;
    const mo_schedule *s;
    int n_nodes;
    mo_shift_node *nodes; /* in their order; lengths may be changed */
    int *via;             /* by flow: the node that delivers it to its reader */
    int64_t *end_ns;      /* by node */
    mo_shift_resource *devices, *resources;
} mo_shift_state;

/* Sorts the nodes.  x and s outlive *h.  The caller clears it, also after a
 * failure. */
mo_status mo_shift_state_open(mo_shift_state *h, const mo_instance *x,
                              const mo_schedule *s, mo_error *err);
void mo_shift_state_clear(mo_shift_state *h);

/* Computes all ends; fails with MO_E_INPUT where the order contradicts the
 * graph. */
mo_status mo_shift_state_run(mo_shift_state *h, mo_error *err);

/* Fills tail_ns, by node: the time from its start to the end of the last op
 * that has to wait for it, with this order. */
void mo_shift_state_tails(mo_shift_state *h, int64_t *tail_ns);

#endif
