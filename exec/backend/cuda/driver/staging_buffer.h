/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stage.h - memory near the device that what is made for it goes through.
 *
 * There are two pieces in turns: while one is copied the other is filled, and
 * nobody waits unless both are on their way.
 */
#ifndef MO_EXEC_BACKEND_CUDA_DRIVER_STAGING_BUFFER_H
#define MO_EXEC_BACKEND_CUDA_DRIVER_STAGING_BUFFER_H

#include <stddef.h>

#include "base/error.h"
#include "exec/backend/cuda/driver/cuda_unit.h"

/* What is larger is better sent in parts. */
enum { MO_CUDA_STAGING_BYTES = 16 << 20 };

/* Memory to be filled, of at least that many bytes; whatever is in it. */
mo_status mo_cuda_staging_acquire(mo_backend_unit *unit, size_t bytes,
                                  void **memory, mo_error *err);

/* Begins to copy the first bytes of what was taken last. */
mo_status mo_cuda_staging_copy_async(mo_backend_unit *unit, CUdeviceptr to,
                                     size_t bytes, mo_error *err);

/* Waits for all that was sent and gives the memory back; harmless where there
 * is none. */
void mo_cuda_staging_free(mo_backend_unit *unit);

#endif
