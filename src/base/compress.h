/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compress.h - bytes made fewer on their way into a file whose name asks for
 * it: .gz or .zst.
 *
 * The same bytes in, the same bytes out, with the same version of the library:
 * no time and no name is written along.
 */
#ifndef MO_BASE_COMPRESS_H
#define MO_BASE_COMPRESS_H

#include <stddef.h>

#include "base/error.h"

typedef struct mo_compress mo_compress;

/* *compress is NULL when the name of the path asks for nothing.  MO_E_SUPPORT
 * when it asks for what was not built in.  fd stays the caller's. */
mo_status mo_compress_new(const char *path, int fd, mo_compress **compress,
                          mo_error *err);

/* Both return errno or 0; after a failure there is nothing to do but free. */
int mo_compress_write(mo_compress *compress, const char *data, size_t size);
int mo_compress_end(mo_compress *compress);

void mo_compress_free(mo_compress *compress); /* NULL is allowed */

/* The name without an ending that asks for compression: its length. */
size_t mo_compress_stem(const char *path);

#endif
