/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compressor.h - the ways to compress, one file each.
 */
#ifndef MO_BASE_COMPRESS_BACKEND_H
#define MO_BASE_COMPRESS_BACKEND_H

#include <stdbool.h>
#include <stddef.h>

/* Bytes to take, and room to fill; both move on. */
typedef struct mo_compress_backend_io {
    const char *in;
    char *out;
    size_t in_left, out_left;
} mo_compress_backend_io;

typedef enum mo_compress_backend_step {
    MO_COMPRESS_BACKEND_DONE, /* took all; where it was the last, gave all */
    MO_COMPRESS_BACKEND_MORE, /* needs room */
    MO_COMPRESS_BACKEND_FAILED
} mo_compress_backend_step;

typedef struct mo_compress_backend {
    const char *ending;  /* of names */
    const char *library; /* that it needs */
    void *(*open)(void); /* NULL: no memory.  Itself NULL: not built in */
    mo_compress_backend_step (*step)(void *state, mo_compress_backend_io *io,
                                     bool last);
    void (*close)(void *state);
} mo_compress_backend;

extern const mo_compress_backend mo_compress_backend_gzip;
extern const mo_compress_backend mo_compress_backend_zstd;

/* No larger piece is given at once. */
enum { MO_COMPRESS_BACKEND_PIECE = 1 << 30 };

#endif
