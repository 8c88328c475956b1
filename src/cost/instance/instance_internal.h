/*
 * instance_parts.h - what the steps of mo_instance_make share; for this room
 * only.
 */
#ifndef MO_COST_INSTANCE_INSTANCE_INTERNAL_H
#define MO_COST_INSTANCE_INSTANCE_INTERNAL_H

#include <stdint.h>

#include "cost/instance.h"
#include "cost/cluster/route.h"

/* So many op times, or different transfer times, at most: 2 GiB of either. */
enum { MO_MAX_NUMBERS = 1 << 28 };

enum { MO_MISSING_SIZE = 1024 };

typedef struct mo_maker {
    const mo_graph *g;
    const mo_cluster *cluster;
    const mo_instance_options *options;
    mo_routes *routes;
    mo_instance *x;
    int n_missing, first_missing_line;
    char first_missing[MO_MISSING_SIZE];
} mo_maker;

/* Notes that what stands on that line of the graph's file lacks a number.  Work
 * goes on, so that all that does is told; then mo_maker_complete fails. */
void mo_maker_miss(mo_maker *m, int line, const char *format, ...)
    MO_PRINTF(3, 4);
mo_status mo_maker_complete(const mo_maker *m, mo_error *err);

/* Each fills its part of m->x, in this order. */
mo_status mo_maker_flows(mo_maker *m, mo_error *err);
mo_status mo_maker_bindings(mo_maker *m, mo_error *err); /* pins and groups */
mo_status mo_maker_times(mo_maker *m, mo_error *err);
mo_status mo_maker_comms(mo_maker *m, mo_error *err);
mo_status mo_maker_bounds(mo_maker *m, mo_error *err); /* memory and sums */
mo_status mo_maker_digests(mo_maker *m, mo_error *err);

/* The column called key, or -1. */
int mo_maker_column(const mo_column *columns, int n, const char *key);

/* To the nearest; -1 when out of range. */
int64_t mo_maker_round(double ns);

/*
 * Pairs of devices are of one kind when all that decides about a transfer
 * between them is the same: then it takes the same time, whatever is sent.
 */
typedef struct mo_pair_kind {
    int columns[3];              /* of comm_us by decreasing trust, or -1 */
    const mo_profile_link *link; /* the profile's first row for it, or NULL */
    double gbps;                 /* of the route; 0 when there is none,
                                    infinite within one device */
    int64_t latency_ns;
} mo_pair_kind;

/* Those of a cluster, kind 0 being a device with itself. */
typedef struct mo_pair_kinds {
    int n;
    mo_pair_kind *kinds;
    int *example; /* of each kind, a pair a * K + b */
    int *of_pair; /* by pair, its kind */
} mo_pair_kinds;

/* All of it lies in arena. */
mo_status mo_maker_kinds(const mo_maker *m, mo_arena *arena,
                         mo_pair_kinds *kinds, mo_error *err);

#endif
