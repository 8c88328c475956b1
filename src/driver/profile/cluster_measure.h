/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster_measure.h - measurement of a discovered cluster.
 */
#ifndef MO_DRIVER_PROFILE_CLUSTER_MEASURE_H
#define MO_DRIVER_PROFILE_CLUSTER_MEASURE_H

#include "base/error.h"
#include "driver/log.h"
#include "cost/cluster.h"
#include "cost/cluster/cluster_write.h"
#include "exec/transport/transport.h"

/*
 * Replaces nominal numbers by measured ones and notes it: links between any
 * two devices, and rates of processors. Collective: all ranks call it with the
 * same cluster, and rank 0 has the result. A GPU keeps the peaks that
 * predictions are based on; its measured rate is in its note.
 */
mo_status mo_driver_cluster_measure(mo_cluster *cluster,
                                    mo_cluster_notes *notes,
                                    const mo_transport *transport,
                                    mo_transport_world *world,
                                    const mo_driver_log *logger, mo_error *err);

#endif
