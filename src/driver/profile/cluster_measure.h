/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster_measure.h - what a cluster that was discovered really does.
 */
#ifndef MO_DRIVER_PROFILE_CLUSTER_MEASURE_H
#define MO_DRIVER_PROFILE_CLUSTER_MEASURE_H

#include "base/error.h"
#include "driver/log.h"
#include "cost/cluster.h"
#include "cost/cluster/cluster_write.h"
#include "exec/transport/transport.h"

/*
 * Replaces nominal numbers by measured ones, and says so in the notes: the
 * links of any two devices, and what processors reach.  All ranks call it with
 * the same cluster; rank 0 has the numbers then.  A GPU keeps its peaks, which
 * predictions are made of; what it reaches is in its note.
 */
mo_status mo_driver_cluster_measure(mo_cluster *cluster,
                                    mo_cluster_notes *notes,
                                    const mo_transport *transport,
                                    mo_transport_world *world,
                                    const mo_driver_log *talk, mo_error *err);

#endif
