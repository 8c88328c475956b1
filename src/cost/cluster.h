/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster.h - the devices at hand and what connects them (moirai-cluster(5)).
 *
 * A cluster owns everything it points to but the device table; it is never
 * changed after it was read.
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

/* Of one link: 100 s.  Sums over any path stay far below INT64_MAX. */
#define MO_MAX_LATENCY_NS INT64_C(100000000000)

typedef struct mo_device {
    const char *id;
    const char *model;            /* as written, or NULL */
    const mo_device_model *known; /* what the table says of it, or NULL */
    bool is_cpu;
    double gflops, bandwidth_gbs, clock_mhz, launch_us; /* 0: unknown */
    int sms;                                            /* 0: unknown */
    int64_t memory_bytes; /* what ops may use: reserve already taken off;
                             INT64_MAX when there is no limit */
    int rank, gpu;        /* where it runs; -1 when the file is silent */
    const char *host;     /* or NULL */
    int threads;          /* it runs with on a CPU; 0 when the file is silent */
    const int *cpus;      /* the processors they stay on, or NULL: any */
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
    const char *name;   /* or NULL */
    const char *file;   /* what errors call it */
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

/* A cluster file or an NCCL topology dump; "-" is standard input. */
mo_status mo_cluster_read(const char *path, mo_cluster **cluster,
                          mo_error *err);
mo_status mo_cluster_read_memory(const char *file, const char *data,
                                 size_t size, mo_cluster **cluster,
                                 mo_error *err);
void mo_cluster_free(mo_cluster *cluster);

/* The cluster to use for a graph: name_or_file when it is given, a file of
 * that name rather than a built-in; else <stem>.cluster.xml beside graph_path;
 * else what MOIRAI_CLUSTER names; else inter-server.  Both arguments may be
 * NULL, and "-" is a graph that lies beside nothing.  *where says which it was,
 * in words for one line on standard error; the caller frees it. */
mo_status mo_cluster_choose(const char *name_or_file, const char *graph_path,
                            mo_cluster **cluster, char **where, mo_error *err);

/* Of what decides about times and memory: devices and links in their order, not
 * the cluster's name, nor rank, gpu, host, threads and cpus, which only say
 * where it runs. */
mo_status mo_cluster_digest(const mo_cluster *cluster, uint64_t *digest,
                            mo_error *err);

int mo_cluster_find(const mo_cluster *cluster, const char *id); /* or -1 */

/* The number of the direct link between two devices, one way; or -1. */
int mo_cluster_find_link(const mo_cluster *cluster, int from, int to);

#endif
