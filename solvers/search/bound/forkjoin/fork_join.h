/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fork.h - the ops between two others, u and v, as branches that run side by
 * side: u's tensor goes out to them, and v collects what they make.
 *
 * Every branch is an in-tree: each of its ops is read by one other of it, and
 * the last by v.  Where the graph is not so, flows are left out until it is:
 * then what is said of the fork is a relaxation, and bounds stay valid.
 */
#ifndef MO_SOLVERS_SEARCH_BOUND_FORKJOIN_FORK_JOIN_H
#define MO_SOLVERS_SEARCH_BOUND_FORKJOIN_FORK_JOIN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "schedule/allowed_devices.h"
#include "schedule/bound/segment_bound.h"

typedef struct mo_forkjoin_op {
    int op;     /* in the instance, of the first of the equal branches */
    int reader; /* which op of the branch reads it; MO_FREE: v, or nobody where
                   the segment has no v */
    int row;    /* of the transfer times to its reader; -1: it is read by nobody
                   and nothing is sent */
    int u_row;  /* of the transfer times from u; -1: does not read u */
} mo_forkjoin_op;

/* Branches that cannot be told apart: same tree, same times, same places. */
typedef struct mo_forkjoin_class {
    int n;               /* ops of one branch */
    mo_forkjoin_op *ops; /* each behind those that it reads */
    int count;           /* branches */
    int *members;        /* op j of branch r: members[r * n + j] */
} mo_forkjoin_class;

typedef struct mo_forkjoin {
    const mo_allowed_devices *places;
    mo_bound_segment segment;
    int n_classes;
    mo_forkjoin_class *classes; /* most ops first */
    /* With tensors once, one tensor of u arrives at a device once for all that
     * read it there: its row.  Other rows than this, and all rows per edge, are
     * sent for each reader by itself.  -1: there is none. */
    int shared_row;
    bool relaxed; /* flows were left out */
} mo_forkjoin;

/* places and the segment's ops must outlive it. */
mo_status mo_forkjoin_find(const mo_allowed_devices *places,
                           const mo_bound_segment *segment, mo_forkjoin **fork,
                           mo_error *err);
void mo_forkjoin_free(mo_forkjoin *fork);

/* Most of it is equal branches: there, counts of branches tell more than trying
 * one after the other. */
bool mo_forkjoin_has_many_equal_branches(const mo_forkjoin *fork);

#endif
