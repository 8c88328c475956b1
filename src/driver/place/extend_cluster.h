/* SPDX-License-Identifier: Apache-2.0 */
/*
 * extend_cluster.h - a cluster with one more device, connected like the first
 * GPU and to it.
 */
#ifndef MO_DRIVER_PLACE_EXTEND_CLUSTER_H
#define MO_DRIVER_PLACE_EXTEND_CLUSTER_H

#include "base/error.h"
#include "cost/cluster.h"

/* Makes the cluster with the device of "MODEL" or "MODEL:GIB".  The caller
 * frees *extended. */
mo_status mo_place_extend_cluster(const mo_cluster *cluster, const char *text,
                                  mo_cluster **extended, mo_error *err);

#endif
