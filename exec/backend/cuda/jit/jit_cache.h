/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jit_cache.h - JIT compilation of device code by NVRTC, cached in memory by
 * source and on disk by digest.
 *
 * Sources are CUDA C in the subset that is also C11 (no templates, references,
 * overloading or headers): the tests compile them by cc and run them without a
 * GPU. prelude.c stands before every source and documents what it offers.
 * Equal sources are compiled once, however many kernels request them; cubins
 * are cached on disk by the digest of source, options, GPU and compiler.
 */
#ifndef MO_EXEC_BACKEND_CUDA_JIT_JIT_CACHE_H
#define MO_EXEC_BACKEND_CUDA_JIT_JIT_CACHE_H

#include <stddef.h>

#include "base/error.h"
#include "exec/backend/cuda/driver/cuda_unit.h"

typedef struct mo_cuda_function mo_cuda_function; /* owned by the cache */

/* Allocates the cache of a unit.  The caller frees *cache with
 * mo_cuda_jit_cache_free(), which accepts NULL, unloads all modules and frees
 * all functions; the unit's context is current. */
mo_status mo_cuda_jit_cache_new(mo_backend_unit *unit,
                                mo_cuda_jit_cache **cache, mo_error *err);
void mo_cuda_jit_cache_free(mo_cuda_jit_cache *cache);

/* Requests a function; source, which is copied, defines it by MO_KERNEL(name).
 * *function may be launched after the next mo_cuda_jit_compile() and is valid
 * as long as the cache. */
mo_status mo_cuda_jit_request(mo_backend_unit *unit, const char *source,
                              const char *name, mo_cuda_function **function,
                              mo_error *err);

/* Compiles and loads all requested functions that are not loaded yet: from the
 * disk cache, the rest in parallel by NVRTC. */
mo_status mo_cuda_jit_compile(mo_backend_unit *unit, mo_error *err);

typedef struct mo_cuda_grid {
    unsigned blocks[3], threads[3];
    unsigned shared;  /* dynamic bytes; more than 48 KiB work too */
    unsigned cluster; /* blocks of a cluster along z; 0 is 1 */
} mo_cuda_grid;

/* Enqueues a launch; args has a pointer to each argument. With programmatic
 * dependent launch (unit->has_pdl) the kernel starts while its predecessor in
 * the stream still runs: hence every kernel calls MO_BEGIN() before it
 * accesses memory that others write or read. */
mo_status mo_cuda_launch(mo_backend_unit *unit,
                         const mo_cuda_function *function,
                         const mo_cuda_grid *grid, CUstream stream, void **args,
                         mo_error *err);

/* Returns the i-th requested source, and in *name a function in it, both owned
 * by the cache; NULL beyond the last. For tests that compile them for other
 * devices. */
const char *mo_cuda_jit_cache_source(const mo_cuda_jit_cache *cache, size_t i,
                                     const char **name);

/* The text before every source, for tests that compile them alone. */
extern const char mo_cuda_prelude[];

/* Compiles source to a cubin for arch (90), without a device; where NVRTC does
 * not know the device's major version, to PTX, which the driver compiles. The
 * caller frees *cubin. The error has the compiler's first message.
 * Thread-safe. */
mo_status mo_cuda_nvrtc_compile(const mo_cuda_api *api, const char *source,
                                const char *name, int arch, char **cubin,
                                size_t *size, mo_error *err);

#endif
