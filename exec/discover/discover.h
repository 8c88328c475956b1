/* SPDX-License-Identifier: Apache-2.0 */
/*
 * discover.h - the devices and links of this machine, or of those of all ranks,
 * as a cluster.
 *
 * Every rank looks at its own machine; what it saw is a survey, plain data of
 * one size, which travels as it is.  From all of them one cluster is made: each
 * GPU once, though several ranks may see it, and a link for any two devices.
 * Nothing is measured here: the same machines give the same cluster.
 */
#ifndef MO_EXEC_DISCOVER_DISCOVER_H
#define MO_EXEC_DISCOVER_DISCOVER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "cost/cluster.h"
#include "cost/cluster/cluster_write.h"
#include "exec/transport/transport.h"

enum {
    MO_DISCOVER_MAX_GPUS = 32,
    MO_DISCOVER_MAX_NVLINKS = 24, /* of one GPU */
    MO_DISCOVER_TEXT_SIZE = 96,
    MO_DISCOVER_REASON_SIZE = 256
};

/* Numbers that nobody tells are 0. */
typedef struct mo_discover_gpu {
    char name[MO_DISCOVER_TEXT_SIZE]; /* "NVIDIA H200" */
    int32_t ordinal;                  /* for its process */
    int32_t arch;                     /* 90: compute capability 9.0 */
    int32_t sms;
    int32_t socket; /* GPUs of a machine that share it are beside the same
                       processors; -1: not told */
    int64_t memory_bytes;
    double clock_mhz, bandwidth_gbs;
    double pci_gbps; /* its way to the processors */
    uint64_t bus;    /* its PCI address; 0: not told */
    uint64_t peers;  /* bit i: it reads the memory of gpus[i] */
    int32_t n_nvlinks;
    uint64_t nvlinks[MO_DISCOVER_MAX_NVLINKS]; /* whose PCI address is at the
                                            other end; 0: a switch's */
} mo_discover_gpu;

typedef struct mo_discover_inventory {
    uint32_t version;                    /* of this struct */
    char host[MO_DISCOVER_TEXT_SIZE];    /* its name */
    char machine[MO_DISCOVER_TEXT_SIZE]; /* the same for all processes of a
                                            machine */

    char cpu[MO_DISCOVER_TEXT_SIZE];
    int32_t processors; /* that this process may use */
    int32_t is_bound;   /* to some of the machine's */
    int32_t cores;      /* which they belong to */
    double clock_mhz;
    double flops_per_cycle; /* of a core */
    double socket_gbps;     /* from its processors to those beside them */
    int64_t memory_bytes;

    char network[MO_DISCOVER_TEXT_SIZE]; /* the fastest card */
    double network_gbps;

    char no_gpu[MO_DISCOVER_REASON_SIZE]; /* why there is none */
    int32_t n_gpus;
    mo_discover_gpu gpus[MO_DISCOVER_MAX_GPUS];
} mo_discover_inventory;

/* Looks at this machine.  gpus: which of them, by their numbers; NULL: all.
 * One that is asked for and is not there is an error; none at all is not. */
mo_status mo_discover_local(const int *gpus, int n_gpus,
                            mo_discover_inventory *survey, mo_error *err);

/* The surveys of all ranks at rank 0, and with everywhere at the others, too;
 * surveys has room for all ranks and holds the own one.  All ranks call it,
 * between plans, from the thread that opened the world. */
mo_status mo_discover_gather(const mo_transport *transport,
                             mo_transport_world *world, bool everywhere,
                             mo_discover_inventory *surveys, mo_error *err);

typedef struct mo_discover_options {
    int cpus;              /* how many devices the processors of each rank are
                              divided into; 0: none */
    const char *precision; /* what peaks are of: f32, tf32, f16, bf16 */
    const mo_cluster *topology; /* whose links between GPUs count for more than
                                   ours; or NULL */
} mo_discover_options;

/* Links are there for every two devices, both ways.  notes belong to the
 * cluster. */
mo_status mo_discover_cluster(const mo_discover_inventory *surveys, int n_ranks,
                              const mo_discover_options *options,
                              mo_cluster **cluster, mo_cluster_notes *notes,
                              mo_error *err);

#endif
