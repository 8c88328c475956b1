/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hold.h - transfers that take as long as on a slower link.
 *
 * Two kernels of one thread stand around the copy in its stream: the first
 * notes when it begins, the second ends when it is time to.  The copy itself is
 * not slowed down: it goes on, or is over, while the second one waits.  What is
 * not very large is copied within a GPU by one kernel, which then waits: three
 * things in a row would take longer than many a link.
 *
 * A link's time is from when a value is there to when it can be used elsewhere.
 * In it are the steps from the kernel that makes the value to the copy, and
 * from there to who reads it, both from one part of a GPU to another: the
 * kernels wait for so much less.
 */
#ifndef MO_EXEC_BACKEND_CUDA_GRAPH_LINK_EMULATION_H
#define MO_EXEC_BACKEND_CUDA_GRAPH_LINK_EMULATION_H

#include <stdint.h>

#include "base/error.h"
#include "exec/backend/cuda/driver/cuda_unit.h"

/* Compiles the kernels where they are not there yet; before streams are
 * captured. */
mo_status mo_cuda_link_emulation_prepare(mo_backend_unit *unit, mo_error *err);

/* Around what is to take ns; the streams of a unit where something is held do
 * that one at a time. */
mo_status mo_cuda_link_emulation_begin(mo_backend_unit *unit, CUstream stream,
                                       mo_error *err);
mo_status mo_cuda_link_emulation_end(mo_backend_unit *unit, int64_t ns,
                                     CUstream stream, mo_error *err);

/* The same in one, copy and all, for what is no more than
 * MO_CUDA_LINK_EMULATION_MAX_COPY_BYTES on the unit's own GPU. */
enum { MO_CUDA_LINK_EMULATION_MAX_COPY_BYTES = 2 << 20 };

mo_status mo_cuda_link_emulation_copy(mo_backend_unit *unit, CUdeviceptr to,
                                      CUdeviceptr from, size_t bytes,
                                      int64_t ns, CUstream stream,
                                      mo_error *err);

/* What these steps take: added where a transfer is timed by itself, without. */
enum { MO_CUDA_LINK_EMULATION_LAUNCH_NS = 3000 };

/* Whether to hold at all: it takes a moment of its own, which short transfers
 * are over by then. */
bool mo_cuda_link_emulation_applies(int64_t ns);

#endif
