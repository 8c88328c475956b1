/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compress.h - compression of output files, selected by the suffix of the
 * name: .gz or .zst.
 *
 * Deterministic for the same version of the library: neither time nor name is
 * stored.
 */
#ifndef MO_BASE_COMPRESS_H
#define MO_BASE_COMPRESS_H

#include <stddef.h>

#include "base/error.h"

typedef struct mo_compress mo_compress;

/* Sets *compress to NULL when the suffix selects no compression. Returns
 * MO_E_SUPPORT when it selects one that was not built in. The caller frees
 * *compress with mo_compress_free() and keeps ownership of fd. */
mo_status mo_compress_new(const char *path, int fd, mo_compress **compress,
                          mo_error *err);

/* Both return errno or 0; after a failure the only valid call is
 * mo_compress_free(). */
int mo_compress_write(mo_compress *compress, const char *data, size_t size);
int mo_compress_end(mo_compress *compress);

void mo_compress_free(mo_compress *compress); /* NULL is allowed */

/* Returns the length of path without a suffix of compression. */
size_t mo_compress_stem(const char *path);

/* For files that are read at offsets, such as weights: returns MO_E_SUPPORT
 * when path has a suffix of compression, or when there is only a file with
 * such a suffix behind path. */
mo_status mo_compress_check_plain(const char *path, mo_error *err);

#endif
