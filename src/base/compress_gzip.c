/* SPDX-License-Identifier: Apache-2.0 */
/* gzip compression and decompression by zlib. */
#include <config.h>

#include "base/compress_backend.h"

#ifdef HAVE_ZLIB

#include <stdlib.h>

#define ZLIB_CONST
#include <zlib.h>

/* Window bits of deflate: the largest window, with a gzip header. The header
 * then has neither name nor time. */
enum { GZIP_WINDOW = 15 + 16, MEMORY_LEVEL = 8 };

static void *open_gzip(void)
{
    z_stream *z = calloc(1, sizeof *z);

    if (z && deflateInit2(z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, GZIP_WINDOW,
                          MEMORY_LEVEL, Z_DEFAULT_STRATEGY) != Z_OK) {
        free(z);
        return NULL;
    }
    return z;
}

static mo_compress_backend_step step_gzip(void *state,
                                          mo_compress_backend_io *io, bool last)
{
    z_stream *z = state;
    int result;

    z->next_in = (const Bytef *) io->in;
    z->avail_in = (uInt) io->in_left;
    z->next_out = (Bytef *) io->out;
    z->avail_out = (uInt) io->out_left;
    result = deflate(z, last ? Z_FINISH : Z_NO_FLUSH);
    io->in = (const char *) z->next_in;
    io->in_left = z->avail_in;
    io->out_left = z->avail_out;
    if (result == Z_STREAM_END)
        return MO_COMPRESS_BACKEND_DONE;
    if (result != Z_OK && result != Z_BUF_ERROR)
        return MO_COMPRESS_BACKEND_FAILED;
    return last || z->avail_out == 0 ? MO_COMPRESS_BACKEND_MORE
                                     : MO_COMPRESS_BACKEND_DONE;
}

static void close_gzip(void *state)
{
    deflateEnd(state);
    free(state);
}

static void *open_gunzip(void)
{
    z_stream *z = calloc(1, sizeof *z);

    if (z && inflateInit2(z, GZIP_WINDOW) != Z_OK) {
        free(z);
        return NULL;
    }
    return z;
}

static mo_decompress_backend_step step_gunzip(void *state,
                                              mo_compress_backend_io *io)
{
    z_stream *z = state;
    int result;

    z->next_in = (const Bytef *) io->in;
    z->avail_in = (uInt) io->in_left;
    z->next_out = (Bytef *) io->out;
    z->avail_out = (uInt) io->out_left;
    result = inflate(z, Z_NO_FLUSH);
    io->in = (const char *) z->next_in;
    io->in_left = z->avail_in;
    io->out = (char *) z->next_out;
    io->out_left = z->avail_out;
    if (result == Z_STREAM_END && inflateReset(z) == Z_OK)
        return MO_DECOMPRESS_BACKEND_END;
    if (result == Z_OK || result == Z_BUF_ERROR)
        return MO_DECOMPRESS_BACKEND_MORE;
    return result == Z_MEM_ERROR ? MO_DECOMPRESS_BACKEND_MEMORY
                                 : MO_DECOMPRESS_BACKEND_DAMAGED;
}

static void close_gunzip(void *state)
{
    inflateEnd(state);
    free(state);
}

#else
#define open_gzip    NULL
#define step_gzip    NULL
#define close_gzip   NULL
#define open_gunzip  NULL
#define step_gunzip  NULL
#define close_gunzip NULL
#endif

const mo_compress_backend mo_compress_backend_gzip = {
    .ending = ".gz",
    .format = "gzip",
    .library = "zlib",
    .program = "gunzip",
    .magic = "\x1f\x8b",
    .n_magic = 2,
    .open = open_gzip,
    .step = step_gzip,
    .close = close_gzip,
    .open_reader = open_gunzip,
    .unpack = step_gunzip,
    .close_reader = close_gunzip,
};
