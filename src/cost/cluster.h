/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster.h - the cluster: devices and the links between them
 * (moirai-cluster(5)).
 *
 * A cluster owns everything it points to except the device table; it is
 * immutable after reading. The caller frees it with mo_cluster_free(), which
 * accepts NULL.
 */
#ifndef MO_COST_CLUSTER_H
#define MO_COST_CLUSTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "cost/device.h"

enum { MO_MAX_DEVICES = 1024, MO_MAX_LINKS = 1 << 20 };

/* Limit for one link: 100 s. Sums over any path stay far below INT64_MAX. */
#define MO_MAX_LATENCY_NS INT64_C(100000000000)

typedef struct mo_device {
    const char *id;
    const char *model;            /* as written, or NULL */
    const mo_device_model *known; /* its row of the device table, or NULL */
    bool is_cpu;
    mo_generation generation;
    /* As in mo_device_model; 0: unknown. */
    double gflops[MO_MATHS];
    double bandwidth_gbs, clock_mhz, cache_mib, launch_us, watts, process_nm;
    double overhead_us, copy_gbs; /* of a transfer, see mo_instance; 0: none */
    int sms;
    int64_t memory_bytes; /* usable by ops: without the reserve; INT64_MAX when
                             there is no limit */
    bool has_reserve;     /* one is given, 0 too */
    int rank, gpu;        /* where it runs; -1 when not given */
    const char *host;     /* or NULL */
    int threads;          /* of a CPU device; 0 when not given */
    const int *cpus; /* processors the threads are bound to, or NULL: any */
    int n_cpus;
    int line;
} mo_device;

typedef struct mo_link {
    int from, to;       /* one direction; `between` makes two */
    double gbps;        /* gigabits a second, > 0 */
    int64_t latency_ns; /* 0 .. MO_MAX_LATENCY_NS */
    int line;
} mo_link;

typedef struct mo_cluster {
    const char *name; /* or NULL */
    const char *file; /* for error messages */
    /* Time of the host, see mo_instance; 0: none is known. */
    double host_request_us, host_transfer_us;
    mo_device *devices; /* in the file's order; at least one */
    int n_devices;
    mo_link *links; /* sorted by from, to; no pair twice */
    int n_links;
    mo_arena *arena;
} mo_cluster;

typedef struct mo_cluster_builtin {
    const char *name, *help, *text; /* text: a cluster file */
} mo_cluster_builtin;

extern const mo_cluster_builtin mo_cluster_builtins[]; /* NULL name ends */

const mo_cluster_builtin *mo_cluster_builtin_find(const char *name);

/* Reads a cluster file or an NCCL topology dump; "-" is standard input. The
 * caller frees *cluster. */
mo_status mo_cluster_read(const char *path, mo_cluster **cluster,
                          mo_error *err);
mo_status mo_cluster_read_memory(const char *file, const char *data,
                                 size_t size, mo_cluster **cluster,
                                 mo_error *err);
void mo_cluster_free(mo_cluster *cluster);

/* Chooses the cluster for a graph: name_or_file when it is given, a built-in
 * before a file of that name; else <stem>.cluster.xml beside graph_path; else
 * the one named by MOIRAI_CLUSTER; else inter-server. Both arguments may be
 * NULL, and "-" is a graph without a path. *where describes the choice in one
 * line for standard error; the caller frees it, and *cluster. */
mo_status mo_cluster_choose(const char *name_or_file, const char *graph_path,
                            mo_cluster **cluster, char **where, mo_error *err);

/* Sets *digest to a digest of all that affects times and memory: devices and
 * links in their order, not the cluster's name, nor rank, gpu, host, threads
 * and cpus, which only locate a device. */
mo_status mo_cluster_digest(const mo_cluster *cluster, uint64_t *digest,
                            mo_error *err);

int mo_cluster_find(const mo_cluster *cluster, const char *id); /* or -1 */

/* Returns the number of the direct link from one device to another, or -1. */
int mo_cluster_find_link(const mo_cluster *cluster, int from, int to);

#endif
