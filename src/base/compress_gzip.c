/* SPDX-License-Identifier: Apache-2.0 */
/* gzip compression by zlib. */
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

#else
#define open_gzip  NULL
#define step_gzip  NULL
#define close_gzip NULL
#endif

const mo_compress_backend mo_compress_backend_gzip = { ".gz", "zlib", open_gzip,
                                                       step_gzip, close_gzip };
