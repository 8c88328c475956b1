/* SPDX-License-Identifier: Apache-2.0 */
/*
 * instance_internal.h - the state of mo_instance_make, shared by its steps.
 */
#ifndef MO_COST_INSTANCE_INSTANCE_INTERNAL_H
#define MO_COST_INSTANCE_INSTANCE_INTERNAL_H

#include <stdint.h>

#include "cost/instance.h"
#include "cost/cluster/route.h"

/* Limit of op times and of distinct transfer times: 2 GiB of either. */
enum { MO_INSTANCE_MAX_NUMBERS = 1 << 28 };

enum {
    MO_INSTANCE_MISSING_SIZE = 1280,
    MO_INSTANCE_MISSING_NAMES = 384,
    MO_INSTANCE_MISSING_GROUPS = 16 /* the others are counted only */
};

/* A number that an op or edge lacks, and why. */
typedef struct mo_instance_missing {
    const char *kind;   /* "op" or "edge"; a literal */
    const char *reason; /* what of the cluster or of --cost is the cause, with
                           ": " at its end; "" when it is the op or edge */
    const char *lacks;  /* "no time on A, B" */
    const char *remedy; /* "flops and bytes"; a literal */
    const char *file;   /* of the reason; NULL: the graph's */
    int line;
} mo_instance_missing;

/* All ops or edges that lack the same for the same reason. */
typedef struct mo_instance_missing_group {
    const char *kind, *remedy, *file;
    char reason[256], lacks[256];
    char names[MO_INSTANCE_MISSING_NAMES]; /* of the first ones */
    int n, n_names, line;
} mo_instance_missing_group;

typedef struct mo_instance_maker {
    const mo_graph *g;
    const mo_cluster *cluster;
    const mo_instance_options *options;
    mo_routes *routes;
    mo_instance *x;
    int n_missing, n_groups;
    mo_instance_missing_group groups[MO_INSTANCE_MISSING_GROUPS];
} mo_instance_maker;

/* Records a missing number of the op or edge with that name. The steps
 * continue, so that all of them are reported; then
 * mo_instance_maker_check_missing fails, with one line for every cause. */
void mo_instance_maker_add_missing(mo_instance_maker *m,
                                   const mo_instance_missing *what,
                                   const char *format, ...) MO_PRINTF(3, 4);
mo_status mo_instance_maker_check_missing(const mo_instance_maker *m,
                                          mo_error *err);

/* Each fills its part of m->x, in this order. */
mo_status mo_instance_maker_flows(mo_instance_maker *m, mo_error *err);
mo_status mo_instance_maker_bindings(mo_instance_maker *m,
                                     mo_error *err); /* pins and groups */
mo_status mo_instance_maker_times(mo_instance_maker *m, mo_error *err);
mo_status mo_instance_maker_comms(mo_instance_maker *m, mo_error *err);
mo_status mo_instance_maker_check_limits(mo_instance_maker *m,
                                         mo_error *err); /* memory and sums */
mo_status mo_instance_maker_digests(mo_instance_maker *m, mo_error *err);

/* Returns the column with that key, or -1. */
int mo_instance_maker_column(const mo_measure_column *columns, int n,
                             const char *key);

/* Rounds to the nearest integer; -1 when out of range. */
int64_t mo_instance_maker_round(double ns);

/*
 * A class of device pairs: all that determines a transfer between them is
 * equal, so every transfer takes the same time.
 */
typedef struct mo_instance_pair_class {
    int columns[3];              /* of comm_us by decreasing priority, or -1 */
    const mo_profile_link *link; /* the profile's first row for it, or NULL */
    double gbps;                 /* of the route; 0 when there is none,
                                    infinite within one device */
    int64_t latency_ns;
} mo_instance_pair_class;

/* The classes of a cluster; class 0 is a device with itself. */
typedef struct mo_instance_pair_classes {
    int n;
    mo_instance_pair_class *classes;
    int *example; /* of each class, a pair a * K + b */
    int *of_pair; /* by pair, its class */
} mo_instance_pair_classes;

/* Allocates everything in arena. */
mo_status mo_instance_maker_pair_classes(const mo_instance_maker *m,
                                         mo_arena *arena,
                                         mo_instance_pair_classes *classes,
                                         mo_error *err);

#endif
