/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compress_backend.h - interface of the compression libraries, one file each.
 */
#ifndef MO_BASE_COMPRESS_BACKEND_H
#define MO_BASE_COMPRESS_BACKEND_H

#include <stdbool.h>
#include <stddef.h>

/* Input bytes and output buffer; a step advances both. */
typedef struct mo_compress_backend_io {
    const char *in;
    char *out;
    size_t in_left, out_left;
} mo_compress_backend_io;

typedef enum mo_compress_backend_step {
    MO_COMPRESS_BACKEND_DONE, /* consumed all input; at the end, wrote all
                                 output */
    MO_COMPRESS_BACKEND_MORE, /* needs output space */
    MO_COMPRESS_BACKEND_FAILED
} mo_compress_backend_step;

typedef struct mo_compress_backend {
    const char *ending;  /* suffix of file names */
    const char *library; /* name of the library */
    void *(*open)(
        void); /* NULL: no memory. The pointer itself is NULL: not built in */
    mo_compress_backend_step (*step)(void *state, mo_compress_backend_io *io,
                                     bool last);
    void (*close)(void *state);
} mo_compress_backend;

extern const mo_compress_backend mo_compress_backend_gzip;
extern const mo_compress_backend mo_compress_backend_zstd;

/* Largest input of one step, in bytes. */
enum { MO_COMPRESS_BACKEND_PIECE = 1 << 30 };

#endif
