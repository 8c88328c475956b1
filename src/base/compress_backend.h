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

/* Of decompression. */
typedef enum mo_decompress_backend_step {
    MO_DECOMPRESS_BACKEND_MORE, /* within a frame: needs input or output space
                                 */
    MO_DECOMPRESS_BACKEND_END,  /* a frame has ended; input behind it is the
                                   next one */
    MO_DECOMPRESS_BACKEND_DAMAGED,
    MO_DECOMPRESS_BACKEND_MEMORY /* needs more memory than there is, or than is
                                    accepted */
} mo_decompress_backend_step;

typedef struct mo_compress_backend {
    const char *ending;  /* suffix of file names */
    const char *format;  /* name of the format */
    const char *library; /* name of the library */
    const char *program; /* name of the program that unpacks it */
    const char *magic;   /* its first bytes, n_magic of them */
    size_t n_magic;
    void *(*open)(
        void); /* NULL: no memory. The pointer itself is NULL: not built in */
    mo_compress_backend_step (*step)(void *state, mo_compress_backend_io *io,
                                     bool last);
    void (*close)(void *state);
    void *(*open_reader)(void); /* as open */
    mo_decompress_backend_step (*unpack)(void *state,
                                         mo_compress_backend_io *io);
    void (*close_reader)(void *state);
} mo_compress_backend;

extern const mo_compress_backend mo_compress_backend_gzip;
extern const mo_compress_backend mo_compress_backend_zstd;

/* Largest input of one step, in bytes. */
enum { MO_COMPRESS_BACKEND_PIECE = 1 << 30 };

#endif
