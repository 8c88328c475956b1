/* SPDX-License-Identifier: Apache-2.0 */
/*
 * staging_buffer.h - pinned host buffers for uploads, double buffered: one is
 * filled while the other is copied, and acquire waits only if both copies are
 * pending.
 */
#ifndef MO_EXEC_BACKEND_CUDA_DRIVER_STAGING_BUFFER_H
#define MO_EXEC_BACKEND_CUDA_DRIVER_STAGING_BUFFER_H

#include <stddef.h>

#include "base/error.h"
#include "exec/backend/cuda/driver/cuda_unit.h"

/* Buffers have at least that many bytes; larger uploads are better split. */
enum { MO_CUDA_STAGING_BYTES = 16 << 20 };

/* Returns in *memory a buffer of at least that many bytes with unspecified
 * contents; the unit owns it. Waits for the copy of its last contents. */
mo_status mo_cuda_staging_acquire(mo_backend_unit *unit, size_t bytes,
                                  void **memory, mo_error *err);

/* Enqueues the copy of the first bytes of the buffer acquired last. */
mo_status mo_cuda_staging_copy_async(mo_backend_unit *unit, CUdeviceptr to,
                                     size_t bytes, mo_error *err);

/* Waits for pending copies and frees both buffers; does nothing where there
 * are none. */
void mo_cuda_staging_free(mo_backend_unit *unit);

#endif
