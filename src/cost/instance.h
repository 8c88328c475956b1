/* SPDX-License-Identifier: Apache-2.0 */
/*
 * instance.h - the problem instance in numbers: the interface between input
 * and solution methods.
 *
 * Formulations, search, simulator, validator and bounds read this and nothing
 * else; none of them depends on operators. Times are nanoseconds, sizes bytes,
 * all of them finite and in range.
 *
 * Ops have the ids of the graph the instance was made of, so they are in
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
#include "cost/time_origin.h"
#include "graph/dag.h"
#include "graph/graph.h"

enum { MO_FREE = -1 }; /* no pin; no colocation group */

/* No single time is longer (a day and more), and the sum of all of them (31
 * years) is far below INT64_MAX: sums of times need no overflow check. */
#define MO_MAX_TIME_NS  INT64_C(100000000000000)
#define MO_MAX_TOTAL_NS INT64_C(1000000000000000000)

/* No overhead of a transfer is longer, nor its copy: 1 s. */
#define MO_MAX_OVERHEAD_NS INT64_C(1000000000)

/* A flow: one op reads one tensor of another. With a transfer per edge, each
 * flow is sent; with transfers once per device, flows of one tensor to one
 * device share a transfer. */
typedef struct mo_flow {
    int from, to;
    int tensor;
} mo_flow;

/* Transfer times. Flows with equal times share a row, and pairs of devices with
 * equal times share a column, so that memory depends on the distinct values and
 * not on the square of the cluster. Flows of one tensor may differ; sent once
 * for all of them, the tensor takes the longest. */
typedef struct mo_comm_times {
    int *flow_row, *tensor_row;
    int *pair_kind; /* from a to b: pair_kind[a * K + b] */
    int64_t *ns;    /* row r, pairs of kind c: [r * n_kinds + c] */
    int n_rows, n_kinds;
} mo_comm_times;

/* Processor times of transfers and launches, counted where requests are
 * pipelined. */
typedef struct mo_processor_load {
    /* Overhead of a transfer (the o of LogP: Culler et al., 1993): how long
     * the processor of a device is occupied with one that it sends or receives,
     * and the rate at which it copies the bytes, 0: it does not. By device;
     * both NULL where there is none. */
    int64_t *overhead_ns;
    double *copy_gbs;

    /* Time of the host, which launches the work of all devices, one launch at
     * a time (the driver of GPUs has a lock): for each request, and for each
     * transfer between devices. */
    int64_t host_request_ns, host_transfer_ns;
} mo_processor_load;

/* A route: n links of mo_routing.route_link, from the first on. */
typedef struct mo_route_span {
    int first, n;
} mo_route_span;

/* Routes for congestion by link, see mo_instance_route(). Routes to one device
 * may share their ends: memory does not grow with their length. */
typedef struct mo_routing {
    int n_links;
    mo_route_span *routes; /* from a to b: routes[a * K + b] */
    int *route_link;
    size_t n_route_links;
} mo_routing;

typedef struct mo_instance {
    int n, n_devices; /* ops; devices, called K below */
    const char **op_names;
    const char **device_ids;

    int64_t *p_ns;           /* op i on device k: p_ns[i * K + k] */
    mo_time_origin *origins; /* the same for the origins of these times; NULL
                                unless options.explain */
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

    mo_comm_times comm;
    mo_processor_load load;

    int *pin;   /* by op: a device, or MO_FREE */
    int *group; /* by op: a colocation group, or MO_FREE */
    int n_groups;

    mo_routing routing;

    mo_numeric formats; /* in which times and sizes were predicted */

    /* Of its sources (0: no profile), and of the instance itself. */
    uint64_t graph_digest, cluster_digest, profile_digest, digest;
    mo_arena *arena; /* owns everything, names too */
} mo_instance;

/* Returns the links on the way from a to b, in order of travel; *n is their
 * number. */
static inline const int *mo_instance_route(const mo_instance *x, int a, int b,
                                           int *n)
{
    const mo_route_span *route =
        &x->routing.routes[(int64_t) a * x->n_devices + b];

    *n = route->n;
    return x->routing.route_link + route->first;
}

static inline int64_t mo_instance_p_ns(const mo_instance *x, int op, int device)
{
    return x->p_ns[(int64_t) op * x->n_devices + device];
}

static inline int64_t mo_instance_row_ns(const mo_instance *x, int64_t row,
                                         int a, int b)
{
    int kind = x->comm.pair_kind[(int64_t) a * x->n_devices + b];

    return x->comm.ns[row * x->comm.n_kinds + kind];
}

/* Returns the transfer time from a to b, of one flow or of a tensor for all
 * its readers; 0 when a = b. */
static inline int64_t mo_instance_flow_ns(const mo_instance *x, int flow, int a,
                                          int b)
{
    return mo_instance_row_ns(x, x->comm.flow_row[flow], a, b);
}

static inline int64_t mo_instance_tensor_ns(const mo_instance *x, int tensor,
                                            int a, int b)
{
    return mo_instance_row_ns(x, x->comm.tensor_row[tensor], a, b);
}

/* Returns the time of a device's processor for a transfer of so many bytes that
 * it sends or receives; bytes may be MO_UNKNOWN. */
static inline int64_t mo_instance_bytes_overhead_ns(const mo_instance *x,
                                                    int64_t bytes, int device)
{
    double copy_ns = 0;

    if (!x->load.overhead_ns)
        return 0;
    if (x->load.copy_gbs[device] > 0 && bytes > 0)
        copy_ns = (double) bytes / x->load.copy_gbs[device];
    return x->load.overhead_ns[device] + (copy_ns < (double) MO_MAX_OVERHEAD_NS
                                              ? (int64_t) copy_ns
                                              : MO_MAX_OVERHEAD_NS);
}

/* The same for a tensor. */
static inline int64_t mo_instance_overhead_ns(const mo_instance *x, int tensor,
                                              int device)
{
    return mo_instance_bytes_overhead_ns(x, x->tensor_bytes[tensor], device);
}

/* Returns whether the host has a load. */
static inline bool mo_instance_has_host(const mo_instance *x)
{
    return x->load.host_request_ns > 0 || x->load.host_transfer_ns > 0;
}

typedef struct mo_instance_options {
    const mo_profile *profile; /* measured times, or NULL */
    mo_predictor predictor;    /* for ops without a measured time */
    bool any_size;             /* accept ops larger than every device */
    bool explain;              /* keep the origins of times */
    /* Called for each cause of missing numbers, with its place, where there
     * are several, before making the instance fails; may be NULL. A file of
     * NULL is the graph's. A single cause is in the error. */
    void (*missing)(void *context, const char *file, int line,
                    const char *what);
    void *context;
} mo_instance_options;

/*
 * Makes the instance of g on cluster. Times by decreasing priority: time_us on
 * the op (by device id, then by model), the profile, the prediction;
 * transfers: comm_us on the edge (by ids, then by models), the profile's link,
 * the cluster's route. A transfer within one device takes no time; of several
 * edges that carry one tensor to one op the slowest counts.
 *
 * An op that is pinned, itself or through its colocation group, needs a time
 * only there; devices without a time get the same.
 *
 * On success the caller owns *instance and frees it with mo_instance_free().
 * Errors: a number that is neither given nor predictable, times out of range,
 * an op larger than every device it may be placed on (unless any_size), pins
 * that contradict or name no device, a cluster in several parts (unless every
 * edge has its own times where there is no path), a profile of other devices,
 * more numbers than the limits allow.
 */
mo_status mo_instance_make(const mo_graph *g, const mo_cluster *cluster,
                           const mo_instance_options *options,
                           mo_instance **instance, mo_error *err);
void mo_instance_free(mo_instance *instance);

/* Returns a view of ops and flows; it borrows from x. */
mo_dag mo_instance_dag(const mo_instance *x);

#endif
