/* SPDX-License-Identifier: Apache-2.0 */
/*
 * discover.h - hardware discovery: devices and links of this machine, or of
 * the machines of all ranks, as a cluster.
 *
 * Every rank takes an inventory of its own machine, plain data of one size,
 * which is sent as bytes. One cluster is built from all of them: each GPU
 * once, though several ranks may see it, and a link for any two devices.
 * Nothing is measured: the same machines give the same cluster.
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
    MO_DISCOVER_MAX_CPUS = 1024,
    MO_DISCOVER_MAX_PROCESSORS = 1 << 20,
    MO_DISCOVER_MAX_NVLINKS = 24, /* of one GPU */
    MO_DISCOVER_TEXT_SIZE = 96,
    MO_DISCOVER_REASON_SIZE = 256
};

/* Numbers that are unknown are 0. */
typedef struct mo_discover_gpu {
    char name[MO_DISCOVER_TEXT_SIZE]; /* "NVIDIA H200" */
    int32_t ordinal;                  /* CUDA device ordinal in its process */
    int32_t arch;                     /* 90: compute capability 9.0 */
    int32_t sms;
    int32_t socket; /* GPUs of a machine with the same number are attached to
                       the same socket; -1: unknown */
    int64_t memory_bytes;
    double clock_mhz, bandwidth_gbs;
    double pci_gbps; /* its PCI Express link */
    uint64_t bus;    /* its PCI address; 0: unknown */
    uint64_t peers;  /* bit i: has peer access to gpus[i] */
    int32_t n_nvlinks;
    uint64_t nvlinks[MO_DISCOVER_MAX_NVLINKS]; /* PCI address of the other end;
                                                  0: a switch */
} mo_discover_gpu;

typedef struct mo_discover_inventory {
    uint32_t version;                    /* of this struct */
    char host[MO_DISCOVER_TEXT_SIZE];    /* its name */
    char machine[MO_DISCOVER_TEXT_SIZE]; /* the same for all processes of a
                                            machine */

    char cpu[MO_DISCOVER_TEXT_SIZE];
    int32_t processors; /* in the CPU affinity mask of this process, or its
                           quota of processor time */
    int32_t is_bound;   /* to some of the machine's */
    int32_t cores;      /* of these processors */
    /* The processors of the mask, as in mo_thread_cpu; with a quota there are
     * more than processors. */
    int32_t n_cpus;
    int16_t cpus[MO_DISCOVER_MAX_CPUS], core_of[MO_DISCOVER_MAX_CPUS];
    int16_t package_of[MO_DISCOVER_MAX_CPUS], capacity_of[MO_DISCOVER_MAX_CPUS];
    double clock_mhz;
    double flops_per_cycle; /* of a core */
    double socket_gbps;     /* between two sockets */
    int64_t memory_bytes;

    char network[MO_DISCOVER_TEXT_SIZE]; /* the fastest card */
    double network_gbps;

    char no_gpu[MO_DISCOVER_REASON_SIZE]; /* why there is none */
    int32_t n_gpus;
    mo_discover_gpu gpus[MO_DISCOVER_MAX_GPUS];
} mo_discover_inventory;

/* Decoder of the inventory of another rank (transport/rendezvous/decode.h):
 * returns whether all counts are within the struct, texts end, and numbers are
 * finite and not negative. */
bool mo_discover_decode_inventory(const mo_discover_inventory *inventory);

/* Takes the inventory of this machine. gpus: their ordinals; NULL: all. A
 * missing one of these is an error; no GPU at all is not. */
mo_status mo_discover_local(const int *gpus, int n_gpus,
                            mo_discover_inventory *inventory, mo_error *err);

/* Gathers the inventories of all ranks at rank 0, and with everywhere at all
 * ranks; inventories has room for all ranks and holds the own one. Collective:
 * all ranks call it, between plans, from the thread that opened the world. */
mo_status mo_discover_gather(const mo_transport *transport,
                             mo_transport_world *world, bool everywhere,
                             mo_discover_inventory *inventories, mo_error *err);

typedef struct mo_discover_options {
    int cpus; /* number of devices that the processors of each rank are divided
                 into; 0: none */
    const char *precision; /* of the peak rates: f32, tf32, f16, bf16 */
    const mo_cluster
        *topology; /* its links between GPUs take precedence; or NULL */
} mo_discover_options;

/* Builds the cluster, with links between every two devices, both ways. The
 * caller frees *cluster, which owns notes. */
mo_status mo_discover_cluster(const mo_discover_inventory *inventories,
                              int n_ranks, const mo_discover_options *options,
                              mo_cluster **cluster, mo_cluster_notes *notes,
                              mo_error *err);

#endif
