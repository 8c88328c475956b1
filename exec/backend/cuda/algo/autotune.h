/* SPDX-License-Identifier: Apache-2.0 */
/*
 * autotune.h - the autotuner: times candidate algorithms once and keeps the
 * results in a tuning cache.
 *
 * The cache is one file in the disk cache per GPU, driver and compiler;
 * several processes may write it at once. The name of a library's algorithm
 * contains the library's version.
 */
#ifndef MO_EXEC_BACKEND_CUDA_ALGO_AUTOTUNE_H
#define MO_EXEC_BACKEND_CUDA_ALGO_AUTOTUNE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "exec/backend/cuda/driver/cuda_unit.h"

/* Allocates the cache of a unit and reads its file, if there is one.  The
 * caller frees *cache with mo_cuda_tuning_cache_close(). */
mo_status mo_cuda_tuning_cache_open(mo_backend_unit *unit,
                                    mo_cuda_tuning_cache **cache,
                                    mo_error *err);
/* Writes new entries and frees the cache; accepts NULL. A file that cannot be
 * written is no error. */
void mo_cuda_tuning_cache_close(mo_cuda_tuning_cache *cache);

/* Enqueues candidate i once. MO_E_SUPPORT: it does not support the problem. */
typedef mo_status mo_cuda_autotune_run_fn(void *context, int i, CUstream stream,
                                          mo_error *err);

/* Algorithms of one problem. key is a digest of all that the fastest depends on
 * besides the file's own key; names[i] identifies a candidate in the cache, so
 * that lists may grow. */
typedef struct mo_cuda_autotune_candidates {
    uint64_t key;
    const char *const *names;
    int n;
    mo_cuda_autotune_run_fn *run;
    void *context; /* of run */
} mo_cuda_autotune_candidates;

/* Sets *best to the index of the fastest candidate; one that is found in the
 * cache is not measured again. Without options.autotune, or with one candidate,
 * the first one that works is chosen; without it the cache is neither read nor
 * written. Returns any failure of a candidate but MO_E_SUPPORT, and
 * MO_E_SUPPORT when none works. */
mo_status mo_cuda_autotune(mo_backend_unit *unit,
                           const mo_cuda_autotune_candidates *candidates,
                           int *best, mo_error *err);

/* Returns the name of the fastest algorithm for key, or NULL; borrowed until
 * the next entry is added. */
const char *mo_cuda_tuning_cache_best_name(const mo_cuda_tuning_cache *cache,
                                           uint64_t key);

/* Returns whether an entry has a name that begins with prefix. */
bool mo_cuda_tuning_cache_has_prefix(const mo_cuda_tuning_cache *cache,
                                     const char *prefix);

/* Adds or replaces the entry of key. Without memory nothing is stored. */
void mo_cuda_tuning_cache_add(mo_cuda_tuning_cache *cache, uint64_t key,
                              const char *name, int64_t ns);

#endif
