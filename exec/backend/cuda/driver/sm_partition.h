/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sm_partition.h - a GPU partitioned into groups of multiprocessors by green
 * contexts (CUDA 12.5).
 *
 * All units of a process that share a GPU share one partition, which the first
 * of them creates and the last one destroys. A part consists of groups of as
 * many SMs as the driver keeps together (8 on Hopper):
 *
 *     132 SMs   |8|8|8|8|8|8|8|8|8|8|8|8|8|8|8|    12   |
 *     parts      64              32      16  8    rest
 *
 * The rest runs the kernels of link emulation, so that these take no SMs from
 * a part. Memory, its bandwidth, the L2 cache and the clocks are shared.
 */
#ifndef MO_EXEC_BACKEND_CUDA_DRIVER_SM_PARTITION_H
#define MO_EXEC_BACKEND_CUDA_DRIVER_SM_PARTITION_H

#include <stdbool.h>

#include "base/error.h"
#include "exec/backend/cuda/driver/cuda_unit.h"

/* Returns whether the unit is one part of a partitioned GPU. */
static inline bool mo_cuda_unit_is_partitioned(const mo_backend_unit *unit)
{
    return unit->options.n_parts > 0;
}

/* Acquires the partition that unit->options name, creating it for the first
 * unit of a GPU; an undivided GPU counts as a partition too. The primary
 * context is current. MO_E_INPUT where the GPU is in use with other parts, or
 * where parts do not fit or are no multiples of a group; MO_E_SUPPORT where
 * the driver cannot divide it. release accepts a unit that has not acquired
 * one; all streams of the unit are destroyed before. Thread-safe. */
mo_status mo_cuda_sm_partition_acquire(mo_backend_unit *unit, mo_error *err);
void mo_cuda_sm_partition_release(mo_backend_unit *unit);

/* Creates a stream in the unit's part, or, if left_over, in the rest where
 * there is one; on an undivided GPU a plain stream. The caller destroys it
 * with cuStreamDestroy. */
mo_status mo_cuda_sm_partition_stream_create(const mo_backend_unit *unit,
                                             bool left_over, CUstream *stream,
                                             mo_error *err);

#endif
