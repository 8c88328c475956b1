/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster_builder.h - builder of a cluster: adds devices and links in any
 * order.
 *
 * Links may precede the devices they name, so their ends are id numbers until
 * the end. Errors that involve more than one element are detected here:
 * duplicate ids, duplicate links, links without a device, no devices, too many
 * of either.
 */
#ifndef MO_COST_CLUSTER_CLUSTER_BUILDER_H
#define MO_COST_CLUSTER_CLUSTER_BUILDER_H

#include "base/arena.h"
#include "base/error.h"
#include "cost/cluster.h"

typedef struct mo_cluster_builder mo_cluster_builder;

/* The caller frees *builder with mo_cluster_builder_free(), which accepts
 * NULL. */
mo_status mo_cluster_builder_new(mo_cluster_builder **builder, mo_error *err);
void mo_cluster_builder_free(mo_cluster_builder *builder);

/* Returns the arena for the texts of the cluster; the cluster will own it. */
mo_arena *mo_cluster_builder_arena(mo_cluster_builder *builder);

/* Sets the name, which must be allocated in the arena. */
void mo_cluster_builder_name(mo_cluster_builder *builder, const char *name);

/* Time of the host, see mo_instance; 0: none. */
void mo_cluster_builder_host(mo_cluster_builder *builder, double request_us,
                             double transfer_us);

/* Sets *number to the number of an id, whether or not a device has it yet. */
mo_status mo_cluster_builder_id(mo_cluster_builder *builder, const char *id,
                                size_t length, int *number, mo_error *err);

/* Values that no file gave: mo_device_complete replaces them. */
enum { MO_DEVICE_UNSET = -1 };

/* Initializers of a device of which no figure is given. */
#define MO_DEVICE_NO_FIGURES                                                   \
    .gflops = { MO_DEVICE_UNSET, MO_DEVICE_UNSET, MO_DEVICE_UNSET,             \
                MO_DEVICE_UNSET, MO_DEVICE_UNSET, MO_DEVICE_UNSET,             \
                MO_DEVICE_UNSET },                                             \
    .bandwidth_gbs = MO_DEVICE_UNSET, .clock_mhz = MO_DEVICE_UNSET,            \
    .cache_mib = MO_DEVICE_UNSET, .launch_us = MO_DEVICE_UNSET,                \
    .overhead_us = MO_DEVICE_UNSET, .copy_gbs = MO_DEVICE_UNSET,               \
    .watts = MO_DEVICE_UNSET, .process_nm = MO_DEVICE_UNSET,                   \
    .sms = MO_DEVICE_UNSET, .memory_bytes = MO_DEVICE_UNSET, .rank = -1,       \
    .gpu = -1

/* Replaces MO_DEVICE_UNSET in the figures of a device and in memory_bytes, and
 * an unknown generation: from the device table where the model is known, else
 * by the value for unknown. A device of a CPU model is a CPU. */
void mo_device_complete(mo_device *device);

/* Adds a user's own device model: the figures of a device, under the name in
 * figures->model and, where title is not NULL, under that. Fails for a name
 * that is taken, by the device table or by another one, or that a device added
 * before has. */
mo_status mo_cluster_builder_model(mo_cluster_builder *builder,
                                   const mo_device *figures, const char *title,
                                   mo_error *err);

/* Fills figures of device that are unset from the user's own model that
 * device->model names, whose name it gets; leaves others as they are. */
void mo_cluster_builder_inherit(const mo_cluster_builder *builder,
                                mo_device *device);

/* Adds a copy of device; its texts must be allocated in the arena. */
mo_status mo_cluster_builder_device(mo_cluster_builder *builder,
                                    const mo_device *device, mo_error *err);

/* Adds a copy of link, whose ends are id numbers. */
mo_status mo_cluster_builder_link(mo_cluster_builder *builder,
                                  const mo_link *link, mo_error *err);

/* Checks and makes the cluster, which the caller then owns; the builder may
 * only be freed afterwards. file is copied. */
mo_status mo_cluster_builder_finish(mo_cluster_builder *builder,
                                    const char *file, mo_cluster **cluster,
                                    mo_error *err);

#endif
