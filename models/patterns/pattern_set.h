/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pattern_set.h - patterns: schedules of the segments of a network, the columns
 * of a set partitioning model (patterns.c), and the tables of lower bounds
 * that belong to them.
 *
 * The network is cut at ops where nothing else is under way.  Segment s has the
 * ops first[s] ... first[s + 1] - 1; the last of them is its exit op, unless it
 * is the last segment, and the op before its first is its entry op.  A
 * schedule is a pattern for each segment, where the device of an exit op is
 * that of the next entry op.
 */
#ifndef MO_MODELS_PATTERNS_PATTERN_SET_H
#define MO_MODELS_PATTERNS_PATTERN_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "cost/instance.h"
#include "schedule/schedule.h"

/* A schedule of one segment.  Times count from the end of the entry op, or
 * from the start where there is none. */
typedef struct mo_pattern {
    int from, to;      /* devices of the entry and exit op; 0: there is none */
    int variant;       /* number among those with the same ends */
    bool is_known;     /* part of the incumbent */
    int64_t ns;        /* to the end of its last op */
    int *device;       /* by op of the segment, owned as all below */
    int64_t *start_ns; /* likewise; of the period zeros */
    mo_transfer *transfers; /* items of the instance; sorted as in a schedule */
    int n_transfers;
    int64_t *load_ns; /* of the period: by resource (schedule/period/loads.h) */
} mo_pattern;

typedef struct mo_pattern_segment {
    mo_pattern *patterns;
    size_t n, room;

    /* By entry and exit device, from * K + to, 0 where there is no such op: no
     * schedule needs less; MO_MAX_TOTAL_NS: there is none.  NULL: nothing is
     * known between the ends. */
    int64_t *lower_ns;
} mo_pattern_segment;

typedef struct mo_pattern_set {
    const mo_instance *x;
    double slack; /* patterns serve schedules so many times as long as the
                     incumbent; at least 1 */
    int n;        /* segments; 0: not filled in yet */
    int *first;   /* n + 1 ops */
    mo_pattern_segment *segments;
    bool has_known; /* the incumbent is among the patterns */

    /* Of the period. */
    int n_loads;      /* resources; 0: patterns are schedules */
    int64_t *base_ns; /* by resource: load without any pattern */
    int64_t lower_ns; /* proven */
    bool is_exact;    /* the best choice is the optimum of the instance */
} mo_pattern_set;

/* Makes an empty set for x, which must outlive it; the caller frees *set. */
mo_status mo_pattern_set_new(const mo_instance *x, double slack,
                             mo_pattern_set **set, mo_error *err);
void mo_pattern_set_free(mo_pattern_set *set); /* accepts NULL */

/* Cuts at these ops, in increasing order; to be called once. */
mo_status mo_pattern_set_cut(mo_pattern_set *set, const int *cuts, int n_cuts,
                             mo_error *err);

/* Return the entry and exit op of a segment, or MO_FREE. */
int mo_pattern_set_entry(const mo_pattern_set *set, int segment);
int mo_pattern_set_exit(const mo_pattern_set *set, int segment);

/* Adds a copy of a pattern, unless an equal one is there, which then also
 * becomes known if the new one is; sets variant. */
mo_status mo_pattern_set_add(mo_pattern_set *set, int segment,
                             const mo_pattern *pattern, mo_error *err);

/* Copies a table of lower bounds; INT64_MAX stands for no schedule. */
mo_status mo_pattern_set_lower(mo_pattern_set *set, int segment,
                               const int64_t *lower_ns, mo_error *err);

#endif
