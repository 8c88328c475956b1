/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cache.h - a folder of files that several processes share, and may lose.
 *
 * A file appears whole: it is written under another name first.  What is read
 * was written whole by us: its length and digest stand before it, and anything
 * else is as if it were not there.  A folder that cannot be written to is no
 * error: then nothing is kept.
 */
#ifndef MO_EXEC_BACKEND_CUDA_JIT_DISK_CACHE_H
#define MO_EXEC_BACKEND_CUDA_JIT_DISK_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

typedef struct mo_cuda_disk_cache mo_cuda_disk_cache;

/* folder: as in mo_backend_unit_options; NULL is $MOIRAI_CACHE,
 * $XDG_CACHE_HOME/moirai or ~/.cache/moirai.  It is made when something is
 * written. */
mo_status mo_cuda_disk_cache_new(const char *folder, mo_cuda_disk_cache **cache,
                                 mo_error *err);
void mo_cuda_disk_cache_free(mo_cuda_disk_cache *cache);

/* The folder; "" where nothing is kept. */
const char *mo_cuda_disk_cache_folder(const mo_cuda_disk_cache *cache);

/* kind is the ending of the file's name.  False when it is not there; *data is
 * the caller's to free, and has a 0 behind its end.  Any thread may call
 * these. */
bool mo_cuda_disk_cache_read(const mo_cuda_disk_cache *cache, uint64_t key,
                             const char *kind, char **data, size_t *size);
/* False when it could not be kept. */
bool mo_cuda_disk_cache_write(const mo_cuda_disk_cache *cache, uint64_t key,
                              const char *kind, const void *data, size_t size);

#endif
