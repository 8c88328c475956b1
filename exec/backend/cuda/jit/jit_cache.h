/* SPDX-License-Identifier: Apache-2.0 */
/*
 * module.h - functions of the device, from their source.
 *
 * Sources are CUDA C in the subset that is also C11 (no templates, references,
 * overloading or headers): what has no GPU to run on is compiled by cc in the
 * tests.  prelude.c is put before every source; it says what there is besides.
 * A function is asked for once by its source, however many kernels use it;
 * cubins are kept in the cache by digest of source, options, GPU and compiler.
 */
#ifndef MO_EXEC_BACKEND_CUDA_JIT_JIT_CACHE_H
#define MO_EXEC_BACKEND_CUDA_JIT_JIT_CACHE_H

#include <stddef.h>

#include "base/error.h"
#include "exec/backend/cuda/driver/cuda_unit.h"

typedef struct mo_cuda_function mo_cuda_function; /* belongs to the shop */

mo_status mo_cuda_jit_cache_new(mo_backend_unit *unit, mo_cuda_jit_cache **shop,
                                mo_error *err);
void mo_cuda_jit_cache_free(mo_cuda_jit_cache *shop);

/* source defines `extern "C" __global__ void name(...)` by MO_KERNEL(name).
 * Compiled by the next mo_cuda_jit_compile. */
mo_status mo_cuda_jit_request(mo_backend_unit *unit, const char *source,
                              const char *name, mo_cuda_function **function,
                              mo_error *err);

/* Compiles and loads all that was asked for and is not there: first from the
 * cache, the rest by several threads. */
mo_status mo_cuda_jit_compile(mo_backend_unit *unit, mo_error *err);

typedef struct mo_cuda_grid {
    unsigned blocks[3], threads[3];
    unsigned shared;  /* dynamic bytes; above 48 KiB is asked for by itself */
    unsigned cluster; /* blocks along z that share memory; 0 is 1 */
} mo_cuda_grid;

/* args: a pointer to each argument.  Where the device can, the function begins
 * while the one before it in the stream still ends: hence every kernel says
 * MO_BEGIN() before it touches what others write or read. */
mo_status mo_cuda_launch(mo_backend_unit *unit,
                         const mo_cuda_function *function,
                         const mo_cuda_grid *grid, CUstream stream, void **args,
                         mo_error *err);

/* The i-th source that was asked for, and the name of a function in it; NULL
 * beyond the last.  For tests that compile them for other devices. */
const char *mo_cuda_jit_cache_source(const mo_cuda_jit_cache *shop, size_t i,
                                     const char **name);

/* What stands before every source, for tests that compile them alone. */
extern const char mo_cuda_prelude[];

/* Compiles to a cubin for arch (90) without any device; free() it.  Where the
 * compiler is older than the device it is PTX, which the driver finishes.  The
 * error has the compiler's first complaint.  Used by the shop's threads, and by
 * tests for architectures that are not there. */
mo_status mo_cuda_nvrtc_compile(const mo_cuda_api *api, const char *source,
                                const char *name, int arch, char **cubin,
                                size_t *size, mo_error *err);

#endif
