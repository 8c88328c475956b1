/*
 * compressor.h - the ways to compress, one file each.
 */
#ifndef MO_BASE_COMPRESS_BACKEND_H
#define MO_BASE_COMPRESS_BACKEND_H

#include <stdbool.h>
#include <stddef.h>

/* Bytes to take, and room to fill; both move on. */
typedef struct mo_compressor_io {
    const char *in;
    char *out;
    size_t in_left, out_left;
} mo_compressor_io;

typedef enum mo_compressor_step {
    MO_COMPRESSOR_DONE, /* took all; where it was the last, gave all */
    MO_COMPRESSOR_MORE, /* needs room */
    MO_COMPRESSOR_FAILED
} mo_compressor_step;

typedef struct mo_compressor {
    const char *ending;  /* of names */
    const char *library; /* that it needs */
    void *(*open)(void); /* NULL: no memory.  Itself NULL: not built in */
    mo_compressor_step (*step)(void *state, mo_compressor_io *io, bool last);
    void (*close)(void *state);
} mo_compressor;

extern const mo_compressor mo_compressor_gzip;
extern const mo_compressor mo_compressor_zstd;

/* No larger piece is given at once. */
enum { MO_COMPRESSOR_PIECE = 1 << 30 };

#endif
