/* SPDX-License-Identifier: Apache-2.0 */
/*
 * choose.h - which of several ways is the fastest here, tried once.
 *
 * Notes of what was measured are kept in the cache: one file per GPU, driver
 * and compiler; several processes may write it at once.  A name that is noted
 * tells the version of a library, if it is one's.
 */
#ifndef MO_EXEC_BACKEND_CUDA_ALGO_AUTOTUNE_H
#define MO_EXEC_BACKEND_CUDA_ALGO_AUTOTUNE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "exec/backend/cuda/driver/cuda_unit.h"

mo_status mo_cuda_tuning_cache_open(mo_backend_unit *unit,
                                    mo_cuda_tuning_cache **cache,
                                    mo_error *err);
/* Writes what is new; a cache that cannot be written is no error. */
void mo_cuda_tuning_cache_close(mo_cuda_tuning_cache *cache);

/* Enqueues candidate i once.  MO_E_SUPPORT: it cannot do this. */
typedef mo_status mo_cuda_autotune_run_fn(void *context, int i, CUstream stream,
                                          mo_error *err);

/* key says all that the answer depends on besides the file's own; names[i] is
 * what a candidate is called in the notes (so that a list may grow); one that
 * is noted is not tried again.  Without options.measure, or with one candidate,
 * the first one that works; without, notes are neither read nor made.  Any
 * failure but MO_E_SUPPORT is returned; so is the last one when none works. */
mo_status mo_cuda_autotune(mo_backend_unit *unit, uint64_t key,
                           const char *const *names, int n,
                           mo_cuda_autotune_run_fn *run, void *context,
                           int *best, int64_t *ns, mo_error *err);

/* Is there a note, and the way it names among these? */
bool mo_cuda_tuning_cache_find(const mo_cuda_tuning_cache *cache, uint64_t key,
                               const char *const *names, int n, int *best,
                               int64_t *ns);

/* The way that was the fastest, or NULL; good until the next note is added. */
const char *mo_cuda_tuning_cache_best_name(const mo_cuda_tuning_cache *cache,
                                           uint64_t key);

/* Is there a note of a way whose name begins so? */
bool mo_cuda_tuning_cache_has_prefix(const mo_cuda_tuning_cache *cache,
                                     const char *prefix);

/* Instead of what was noted before.  Without memory nothing is noted. */
void mo_cuda_tuning_cache_add(mo_cuda_tuning_cache *cache, uint64_t key,
                              const char *name, int64_t ns);

#endif
