/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster_build.h - a cluster, put together device by device and link by link.
 *
 * Links may come before the devices they name, so ends are told by the number
 * of an id and looked up at the end.  Whatever a file can get wrong about more
 * than one element is found here: ids given twice, links given twice, links to
 * nowhere, no devices, too many of either.
 */
#ifndef MO_COST_CLUSTER_CLUSTER_BUILDER_H
#define MO_COST_CLUSTER_CLUSTER_BUILDER_H

#include "base/arena.h"
#include "base/error.h"
#include "cost/cluster.h"

typedef struct mo_cluster_builder mo_cluster_builder;

mo_status mo_cluster_builder_new(mo_cluster_builder **builder, mo_error *err);
void mo_cluster_builder_free(mo_cluster_builder *builder);

/* Where texts of the cluster belong; it becomes the cluster's own. */
mo_arena *mo_cluster_builder_arena(mo_cluster_builder *builder);

/* The name must lie in the arena. */
void mo_cluster_builder_name(mo_cluster_builder *builder, const char *name);

/* The number of an id, whether or not a device has it yet. */
mo_status mo_cluster_builder_id(mo_cluster_builder *builder, const char *id,
                                size_t length, int *number, mo_error *err);

/* What no file said of a device: values that mo_device_complete replaces. */
enum { MO_DEVICE_UNSET = -1 };

/* Fills what is MO_DEVICE_UNSET of gflops, bandwidth_gbs, clock_mhz, launch_us,
 * sms and memory_bytes: from the device table where that knows the model, else
 * with what stands for unknown. */
void mo_device_complete(mo_device *device);

/* Copies device; its texts must lie in the arena. */
mo_status mo_cluster_builder_device(mo_cluster_builder *builder,
                                    const mo_device *device, mo_error *err);

/* Copies link, whose ends are numbers of ids. */
mo_status mo_cluster_builder_link(mo_cluster_builder *builder,
                                  const mo_link *link, mo_error *err);

/* Checks and hands over the cluster; the builder is left to be freed.  file is
 * copied. */
mo_status mo_cluster_builder_finish(mo_cluster_builder *builder,
                                    const char *file, mo_cluster **cluster,
                                    mo_error *err);

#endif
