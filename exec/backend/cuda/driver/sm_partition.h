/* SPDX-License-Identifier: Apache-2.0 */
/*
 * partition.h - a GPU divided into parts, each with multiprocessors of its own.
 *
 * The parts of a GPU are green contexts of one division, which the first unit
 * that names it makes and the last one ends.  They are made of groups of as
 * many SMs as the driver keeps together (8 on Hopper):
 *
 *     132 SMs   |8|8|8|8|8|8|8|8|8|8|8|8|8|8|8|    12   |
 *     parts      64              32      16  8    rest
 *
 * What is left over holds the links between parts back, so that no part's work
 * makes room for that.  Memory, its bandwidth, the L2 cache and the clocks are
 * everybody's.
 */
#ifndef MO_EXEC_BACKEND_CUDA_DRIVER_SM_PARTITION_H
#define MO_EXEC_BACKEND_CUDA_DRIVER_SM_PARTITION_H

#include <stdbool.h>

#include "base/error.h"
#include "exec/backend/cuda/driver/cuda_unit.h"

/* Whether the unit is a part of its GPU, and of how many SMs. */
static inline bool mo_cuda_unit_is_partitioned(const mo_backend_unit *unit)
{
    return unit->options.n_parts > 0;
}

/* Joins the division of the unit's GPU that its options tell, or is the first;
 * none is one, too.  The primary context is current.  An error where others
 * divide the GPU otherwise, where parts do not fit or are no groups, and where
 * the driver cannot divide it.  Leaving is harmless for who has not joined; by
 * then the unit has no streams. */
mo_status mo_cuda_sm_partition_acquire(mo_backend_unit *unit, mo_error *err);
void mo_cuda_sm_partition_release(mo_backend_unit *unit);

/* A stream of the unit's part; or in what is left over of the GPU, where there
 * is something.  The whole GPU has plain streams. */
mo_status mo_cuda_sm_partition_stream_create(const mo_backend_unit *unit,
                                             bool left_over, CUstream *stream,
                                             mo_error *err);

#endif
