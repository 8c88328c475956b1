/* SPDX-License-Identifier: Apache-2.0 */
/*
 * link_emulation.h - emulation of a slower link: transfers that take a given
 * time.
 *
 * Two kernels of one thread stand around the copy in its stream: the first
 * stores the time of its start, the second spins until the emulated end. The
 * copy itself is not slowed down: it proceeds, or is complete, while the
 * second kernel waits. Within a GPU small copies are done by one kernel, which
 * then waits: three launches in a row would take longer than many a link.
 *
 * The time of a link is from the end of the producer to the start of the
 * consumer. It contains the launch latencies between producer, copy and
 * consumer, across parts of a GPU: the kernels wait for so much less.
 */
#ifndef MO_EXEC_BACKEND_CUDA_GRAPH_LINK_EMULATION_H
#define MO_EXEC_BACKEND_CUDA_GRAPH_LINK_EMULATION_H

#include <stdint.h>

#include "base/error.h"
#include "exec/backend/cuda/driver/cuda_unit.h"

/* Compiles the kernels and allocates their memory on the first call; before
 * streams are captured. */
mo_status mo_cuda_link_emulation_prepare(mo_backend_unit *unit, mo_error *err);

/* Enqueue the kernels before and after a copy that takes ns in all. A unit
 * emulates one transfer at a time. */
mo_status mo_cuda_link_emulation_begin(mo_backend_unit *unit, CUstream stream,
                                       mo_error *err);
mo_status mo_cuda_link_emulation_end(mo_backend_unit *unit, int64_t ns,
                                     CUstream stream, mo_error *err);

/* Copy and wait in one kernel, for at most
 * MO_CUDA_LINK_EMULATION_MAX_COPY_BYTES within the unit's GPU. */
enum { MO_CUDA_LINK_EMULATION_MAX_COPY_BYTES = 2 << 20 };

mo_status mo_cuda_link_emulation_copy(mo_backend_unit *unit, CUdeviceptr to,
                                      CUdeviceptr from, size_t bytes,
                                      int64_t ns, CUstream stream,
                                      mo_error *err);

/* Launch latencies around a transfer, in ns; added to the time of a transfer
 * that is measured alone. */
enum { MO_CUDA_LINK_EMULATION_LAUNCH_NS = 3000 };

/* Returns whether ns exceeds the latency of emulation itself; shorter transfers
 * are not emulated. */
bool mo_cuda_link_emulation_applies(int64_t ns);

#endif
