/* SPDX-License-Identifier: Apache-2.0 */
/*
 * colocation_band.h - the intervals of the colocation bound: lower bounds on
 * the time between two ops, by whether they share a device, and the test of one
 * interval against those within it.
 *
 * Intervals are kept in a band: the last op less than `width` ops behind the
 * first.
 */
#ifndef MO_SCHEDULE_BOUND_COLOCATION_BAND_H
#define MO_SCHEDULE_BOUND_COLOCATION_BAND_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "graph/mincut.h"
#include "schedule/allowed_devices.h"
#include "schedule/bound/colocation_bound.h"
#include "schedule/bound/colocation_test.h"

/* Of ops that do not precede each other: lost in any maximum. */
#define MO_COLOC_NO_INTERVAL (-2 * MO_COLOC_NEVER_NS)

typedef struct mo_coloc_band {
    const mo_allowed_devices *domains;
    const mo_instance *x;
    int width;
    bool has_ports, has_test, has_backjumps; /* not switched off */
    int64_t max_nodes;   /* of a search of an interval; 0: none */
    double nodes_left;   /* of all searches */
    const mo_stop *stop; /* of searches, or NULL */
    mo_coloc_test *test;
    mo_mincut network; /* of ports */
    int64_t *p_ns;     /* by op: the least */
    int64_t *edge_ns;  /* by flow: the least transfer between two devices */

    /* By first op and distance, and the same by last op and distance. */
    int64_t *same_from, *apart_from, *same_to, *apart_to;
    unsigned char *search_level; /* by first op and distance: refinements made,
                                    each with 4 times the nodes of the last */
    int64_t *head_ns;            /* by op: least start */
    int64_t *tail_ns; /* by op: least time from its start to the end */

    /* The interval under test. */
    int first, last; /* ops at its ends; MO_FREE: start, end of the schedule */
    int n_ops;       /* with the ends, in topological order */
    int *ops;
    int *member;               /* by op: number in the test, or -1 */
    int64_t *interval_head_ns; /* by op: from the begin to its start */
    int64_t *interval_tail_ns; /* by op: from its start to the end */
} mo_coloc_band;

/* Allocates a band without intervals, as wide as the work allows (ops and flows
 * by width squared), and with a part of effort->nodes divided among the
 * intervals. domains must outlive it.  The caller calls mo_coloc_band_close(),
 * also after an error. */
mo_status mo_coloc_band_open(const mo_allowed_devices *domains,
                             const mo_coloc_effort *effort, mo_coloc_band *band,
                             mo_error *err);
void mo_coloc_band_close(mo_coloc_band *band);

static inline int64_t mo_coloc_band_at(const mo_coloc_band *band, int op,
                                       int distance)
{
    return (int64_t) op * band->width + distance;
}

/* Adds an op to the interval under test. */
void mo_coloc_band_add_op(mo_coloc_band *band, int op, int64_t head_ns,
                          int64_t tail_ns);

/* Makes the ops between u and v the interval under test; returns false, and
 * leaves it, where u does not precede v. */
bool mo_coloc_band_collect(mo_coloc_band *band, int u, int v);

/* Least times between the starts of the ops at its ends. */
typedef struct mo_coloc_times {
    int64_t same_ns, apart_ns; /* on one device, on two */
} mo_coloc_times;

/* Keeps the times of the interval under test. */
void mo_coloc_band_store(mo_coloc_band *band, mo_coloc_times times);

/* Makes the ops of the interval under test the members of band->test. */
void mo_coloc_band_add_members(mo_coloc_band *band);
/* Clears band->member of these ops; before another interval is collected. */
void mo_coloc_band_forget_members(const mo_coloc_band *band);

/* The devices of the ops at the ends of the interval. */
typedef enum mo_coloc_case {
    MO_COLOC_ANY,
    MO_COLOC_SAME,
    MO_COLOC_APART
} mo_coloc_case;

/* Raises *least_ns, a lower bound of the length of the interval, to the least
 * that band->test does not refute.  Fails only when memory cannot be allocated.
 */
mo_status mo_coloc_band_raise_interval(mo_coloc_band *band, mo_coloc_case which,
                                       int64_t *least_ns, mo_error *err);

/* Raises the lengths *same_ns and *apart_ns of the interval between two ops
 * whose ops are members of the test, where transfers exclude each other at
 * ports (minimum cuts).  Does nothing for other congestion and for many ops.
 * Fails only when memory cannot be allocated. */
mo_status mo_coloc_band_raise_by_ports(mo_coloc_band *band, int64_t *same_ns,
                                       int64_t *apart_ns, mo_error *err);

#endif
