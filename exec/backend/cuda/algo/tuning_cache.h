/* SPDX-License-Identifier: Apache-2.0 */
/*
 * notes.h - what was measured before: which way was the fastest, by key.
 */
#ifndef MO_EXEC_BACKEND_CUDA_ALGO_TUNING_CACHE_H
#define MO_EXEC_BACKEND_CUDA_ALGO_TUNING_CACHE_H

#include <stdbool.h>
#include <stdint.h>

#include "exec/backend/cuda/algo/autotune.h"

/* Is there a note, and the way it names among these? */
bool mo_cuda_tuning_cache_find(const mo_cuda_tuning_cache *notes, uint64_t key,
                               const char *const *names, int n, int *best,
                               int64_t *ns);

/* The way that was the fastest, or NULL; good until the next note is added. */
const char *mo_cuda_tuning_cache_best_name(const mo_cuda_tuning_cache *notes,
                                           uint64_t key);

/* Is there a note of a way whose name begins so? */
bool mo_cuda_tuning_cache_has_prefix(const mo_cuda_tuning_cache *notes,
                                     const char *begin);

/* Instead of what was noted before.  Without memory nothing is noted. */
void mo_cuda_tuning_cache_add(mo_cuda_tuning_cache *notes, uint64_t key,
                              const char *name, int64_t ns);

#endif
