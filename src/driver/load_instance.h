/* SPDX-License-Identifier: Apache-2.0 */
/*
 * load.h - what commands that work on instances share: the options that say
 * where the numbers come from, and the instance they make.
 */
#ifndef MO_DRIVER_LOAD_INSTANCE_H
#define MO_DRIVER_LOAD_INSTANCE_H

#include <stdbool.h>

#include "base/error.h"
#include "base/option.h"
#include "driver/log.h"
#include "cost/instance.h"
#include "graph/graph.h"

typedef struct mo_driver_load_options {
    const char *cluster; /* -c; NULL: as moirai-cluster(5) says */
    const char *profile; /* -p; or NULL */
    const char *cost;    /* --cost; NULL: the built-in roofline */
    bool any_size;       /* nobody asks whether ops fit their devices */
} mo_driver_load_options;

/* The rows of an option table for these. */
/* clang-format off */
#define MO_DRIVER_LOAD_OPTIONS(load)                                                  \
    { 'c', "cluster", "FILE|NAME", "the devices and their links",              \
      MO_OPTION_TEXT, .to = &(load)->cluster },                                \
    { 'p', "profile", "FILE", "measured times of ops and links",               \
      MO_OPTION_TEXT, .to = &(load)->profile },                                \
    { 0, "cost", "MODEL",                                                      \
      "cost model for ops without a measured time: roofline[:FILE] or wave:DEVICE",         \
      MO_OPTION_TEXT, .to = &(load)->cost }
/* clang-format on */

/* An instance with what it was made of. */
typedef struct mo_driver_loaded {
    mo_cluster *cluster;
    mo_profile *profile; /* or NULL */
    mo_instance *instance;
} mo_driver_loaded;

/* The file of --cost roofline:FILE, or NULL. */
const char *mo_driver_load_cost_file(const mo_driver_load_options *load);

/* Whether the options go together, and with a graph from path; to be asked
 * before anything is read. */
mo_status mo_driver_load_check(const mo_driver_load_options *load,
                               const char *path, mo_error *err);

/* Reads the cluster for a graph from path, and the profile.  A cluster that was
 * not asked for is named on stderr.  loaded must be zeros, and is the caller's
 * to clear whatever the result. */
mo_status mo_driver_load_cluster(const mo_driver_load_options *load,
                                 const char *path, const mo_driver_log *talk,
                                 mo_driver_loaded *loaded, mo_error *err);

/* Makes the instance of g, which was read from path, with what was loaded
 * before, or loads it first.  On stderr is told, one line each and whatever
 * talk says, all that lacks a number where the error cannot name it alone. */
mo_status mo_driver_load_instance(const mo_driver_load_options *load,
                                  const char *path, const mo_graph *g,
                                  const mo_driver_log *talk,
                                  mo_driver_loaded *loaded, mo_error *err);
void mo_driver_loaded_clear(mo_driver_loaded *loaded);

#endif
