/* SPDX-License-Identifier: Apache-2.0 */
/*
 * disk_cache.h - a persistent cache of files by key, shared by processes.
 *
 * A file appears whole: it is written under a temporary name and renamed.
 * Length and digest stand before the contents; a file that does not match them
 * counts as absent. A folder that cannot be written to is no error: nothing is
 * cached then.
 */
#ifndef MO_EXEC_BACKEND_CUDA_JIT_DISK_CACHE_H
#define MO_EXEC_BACKEND_CUDA_JIT_DISK_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

typedef struct mo_cuda_disk_cache mo_cuda_disk_cache;

/* folder: as in mo_backend_unit_options; NULL is $MOIRAI_CACHE,
 * $XDG_CACHE_HOME/moirai or ~/.cache/moirai. It is created by the first write.
 * The caller frees *cache with mo_cuda_disk_cache_free(), which accepts
 * NULL. */
mo_status mo_cuda_disk_cache_new(const char *folder, mo_cuda_disk_cache **cache,
                                 mo_error *err);
void mo_cuda_disk_cache_free(mo_cuda_disk_cache *cache);

/* Returns the folder, owned by the cache; "" where nothing is cached. */
const char *mo_cuda_disk_cache_folder(const mo_cuda_disk_cache *cache);

/* Reads the file of a key; kind is the suffix of its name. Returns false when
 * there is none; else the caller frees *data, which has a 0 behind its end.
 * Reading and writing are thread-safe. */
bool mo_cuda_disk_cache_read(const mo_cuda_disk_cache *cache, uint64_t key,
                             const char *kind, char **data, size_t *size);
/* Returns false when the file could not be written. */
bool mo_cuda_disk_cache_write(const mo_cuda_disk_cache *cache, uint64_t key,
                              const char *kind, const void *data, size_t size);

#endif
