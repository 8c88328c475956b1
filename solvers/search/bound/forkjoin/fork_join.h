/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fork_join.h - fork-join subgraph between two ops u and v: parallel branches
 * that read a tensor of u and write the inputs of v.
 *
 * Every branch is an in-tree: each of its ops is read by one other op of it,
 * and its root by v. Where the graph is not of this form, flows are dropped
 * until it is: then the fork-join is a relaxation, and lower bounds stay
 * valid.
 */
#ifndef MO_SOLVERS_SEARCH_BOUND_FORKJOIN_FORK_JOIN_H
#define MO_SOLVERS_SEARCH_BOUND_FORKJOIN_FORK_JOIN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "schedule/allowed_devices.h"
#include "schedule/bound/segment_bound.h"

typedef struct mo_forkjoin_op {
    int op;     /* of the instance, in the first of the equal branches */
    int reader; /* op of the branch that reads it; MO_FREE: v, or none where the
                   segment has no v */
    int row;    /* of transfer times to its reader; -1: it has no reader and
                   nothing is sent */
    int u_row;  /* of transfer times from u; -1: does not read u */
} mo_forkjoin_op;

/* Class of isomorphic branches: same tree, same times, same allowed devices. */
typedef struct mo_forkjoin_class {
    int n;               /* ops of one branch */
    mo_forkjoin_op *ops; /* in topological order, inputs first */
    int count;           /* branches */
    int *members;        /* op j of branch r: members[r * n + j] */
} mo_forkjoin_class;

typedef struct mo_forkjoin {
    const mo_allowed_devices *places;
    mo_bound_segment segment;
    int n_classes;
    mo_forkjoin_class *classes; /* most ops first */
    /* Broadcast tensor: with tensors sent once, one tensor of u that arrives
     * at a device once for all its readers there; its row of transfer times.
     * Other rows, and all rows with transfers per edge, are sent for each
     * reader separately. -1: there is none. */
    int broadcast_row;
    bool relaxed; /* flows were dropped */
} mo_forkjoin;

/* A fork-join with u on device a and v on device b; MO_FREE where the segment
 * has no such end: then time starts at 0, or ends with the last op. */
typedef struct mo_forkjoin_case {
    const mo_forkjoin *fork;
    int a, b;
} mo_forkjoin_case;

/* Returns the case with u on a and v on b, of the ends that there are. */
static inline mo_forkjoin_case mo_forkjoin_at(const mo_forkjoin *fork, int a,
                                              int b)
{
    return (mo_forkjoin_case){ fork, fork->segment.u == MO_FREE ? MO_FREE : a,
                               fork->segment.v == MO_FREE ? MO_FREE : b };
}

/* Allocates the fork-join of a segment; the caller frees *fork with
 * mo_forkjoin_free(), which accepts NULL. places and the segment's ops are
 * borrowed and must outlive it. */
mo_status mo_forkjoin_find(const mo_allowed_devices *places,
                           const mo_bound_segment *segment, mo_forkjoin **fork,
                           mo_error *err);
void mo_forkjoin_free(mo_forkjoin *fork);

/* Returns whether most ops are in classes of several equal branches: there,
 * bounds that count branches are stronger than enumeration.  NULL has none. */
bool mo_forkjoin_has_many_equal_branches(const mo_forkjoin *fork);

#endif
