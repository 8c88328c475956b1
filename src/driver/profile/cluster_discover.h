/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster_discover.h - options of moirai-cluster, and its subcommand discover.
 */
#ifndef MO_DRIVER_PROFILE_CLUSTER_DISCOVER_H
#define MO_DRIVER_PROFILE_CLUSTER_DISCOVER_H

#include <stdbool.h>

#include "base/error.h"
#include "driver/exec/launch_options.h"
#include "driver/log.h"

typedef struct mo_driver_cluster_options {
    const char *output;    /* NULL: standard output */
    const char *gpus;      /* "0,2", "none", or NULL: all */
    const char *cpus;      /* "2", "none", or NULL: one device */
    const char *precision; /* that peaks refer to */
    const char *topology;  /* NCCL's dump, or NULL */
    const char *transport; /* NULL: by the launcher */
    mo_launch_options job; /* the ranks; cleared by the command */
    bool measure;
    mo_driver_log logger;
} mo_driver_cluster_options;

/* Discovers devices and links, those of all ranks if there are several, and
 * writes the cluster. */
mo_status mo_driver_cluster_discover(mo_driver_cluster_options *o,
                                     mo_error *err);

#endif
