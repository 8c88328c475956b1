/* SPDX-License-Identifier: Apache-2.0 */
/*
 * instance.h - the problem in numbers: the waist of the program.
 *
 * Formulations, search, simulator, validator and bounds read this and nothing
 * else; none of them knows what a convolution is.  Times are nanoseconds, sizes
 * bytes, all of them finite and in range.
 *
 * Ops have the ids of the graph the instance was made of, so they stand in
 * topological order; devices those of the cluster.
 */
#ifndef MO_COST_INSTANCE_H
#define MO_COST_INSTANCE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "cost/cluster.h"
#include "cost/predict.h"
#include "cost/profile.h"
#include "graph/augment.h"
#include "graph/dag.h"
#include "graph/graph.h"

enum { MO_FREE = -1 }; /* no pin; no colocation group */

/* No single time is longer (a day and more), and all of them one after the
 * other (31 years) still fit an int64 with room to spare: nobody who adds times
 * up needs to look for overflow. */
#define MO_MAX_TIME_NS  INT64_C(100000000000000)
#define MO_MAX_TOTAL_NS INT64_C(1000000000000000000)

/* One op reads one tensor of another.  Per edge, that is what is sent; with
 * tensors once, flows of one tensor to one device share a transfer. */
typedef struct mo_flow {
    int from, to;
    int tensor;
} mo_flow;

typedef struct mo_instance {
    int n, n_devices; /* ops; devices, called K below */
    const char **op_names;
    const char **device_ids;

    int64_t *p_ns;           /* op i on device k: p_ns[i * K + k] */
    int64_t *memory_bytes;   /* by op, resident wherever it is placed */
    int64_t *weight_bytes;   /* by op, the part that stays between runs */
    int64_t *capacity_bytes; /* by device; INT64_MAX: no limit */

    int n_flows;
    mo_flow *flows;           /* sorted by from, tensor, to; no two equal */
    int *out_start;           /* flows of op i: [out_start[i], ...[i + 1]) */
    int *in_flows, *in_start; /* flow numbers by reader, the same way */

    int n_tensors;
    int *tensor_from;      /* producer */
    int *tensor_start;     /* its flows: [tensor_start[t], ...[t + 1]) */
    int64_t *tensor_bytes; /* MO_UNKNOWN where only times are known */

    /* What is sent alike shares a row of transfer times, and pairs of devices
     * that send alike share a column, so that memory follows what differs and
     * not the square of the cluster.  Flows of one tensor may differ; sent once
     * for all of them, it takes the longest. */
    int *flow_row, *tensor_row;
    int *pair_kind;   /* from a to b: pair_kind[a * K + b] */
    int64_t *comm_ns; /* row r, pairs of kind c: [r * n_kinds + c] */
    int n_comm_rows, n_kinds;

    int *pin;   /* by op: a device, or MO_FREE */
    int *group; /* by op: a colocation group, or MO_FREE */
    int n_groups;

    /* For congestion by link: the links on the way from a to b are
     * route_link[route_start[a * K + b] .. route_start[a * K + b + 1]). */
    int n_links;
    int *route_start, *route_link;

    /* Of what it was made of (0: no profile), and of itself. */
    uint64_t graph_digest, cluster_digest, profile_digest, digest;
    mo_arena *arena; /* owns all of this, names too */
} mo_instance;

static inline int64_t mo_instance_p_ns(const mo_instance *x, int op, int device)
{
    return x->p_ns[(int64_t) op * x->n_devices + device];
}

static inline int64_t mo_instance_row_ns(const mo_instance *x, int64_t row,
                                         int a, int b)
{
    int kind = x->pair_kind[(int64_t) a * x->n_devices + b];

    return x->comm_ns[row * x->n_kinds + kind];
}

/* What sending takes from a to b, to one reader or once for all of them; 0 when
 * a = b. */
static inline int64_t mo_instance_flow_ns(const mo_instance *x, int flow, int a,
                                          int b)
{
    return mo_instance_row_ns(x, x->flow_row[flow], a, b);
}

static inline int64_t mo_instance_tensor_ns(const mo_instance *x, int tensor,
                                            int a, int b)
{
    return mo_instance_row_ns(x, x->tensor_row[tensor], a, b);
}

typedef struct mo_instance_options {
    const mo_profile *profile; /* measured times, or NULL */
    mo_predictor predictor;    /* for what nobody measured */
    bool any_size;             /* take ops larger than every device */
    /* Where several ops or edges lack a number, told of each of them, with its
     * line in the graph's file, before making the instance fails; may be NULL.
     * One that is alone is in the error. */
    void (*missing)(void *context, int line, const char *what);
    void *context;
} mo_instance_options;

/*
 * Makes the instance of g on cluster.  Times in order of trust: time_us on the
 * op (by device id, then by model), the profile, the prediction; transfers:
 * comm_us on the edge (by ids, then by models), the profile's link, the
 * cluster's route.  A transfer within one device takes no time; of several
 * edges that carry one tensor to one op the slowest counts.
 *
 * An op that is pinned, itself or through its colocation group, needs a time
 * only there; where it has none it is given the same.
 *
 * Errors: a number nobody gives and nothing predicts, times out of range, an
 * op larger than every device it may go to (unless any_size), pins that
 * contradict or name no device, a cluster in several parts (unless every edge
 * has its own times where there is no way), a profile of other devices, more
 * numbers than fit.
 */
mo_status mo_instance_make(const mo_graph *g, const mo_cluster *cluster,
                           const mo_instance_options *options,
                           mo_instance **instance, mo_error *err);
void mo_instance_free(mo_instance *instance);

/* Ops and flows, as a view. */
mo_dag mo_instance_dag(const mo_instance *x);

/* The augmented DAG: ops and flows by their numbers here. */
mo_status mo_instance_augment(const mo_instance *x, mo_augmented **augmented,
                              mo_error *err);

#endif
