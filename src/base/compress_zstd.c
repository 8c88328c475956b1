/* SPDX-License-Identifier: Apache-2.0 */
/* Zstandard compression by libzstd. */
#include <config.h>

#include "base/compress_backend.h"

#ifdef HAVE_ZSTD

#include <zstd.h>

/* The settings of the zstd program: its default level, a checksum at the
 * end. */
static void *open_zstd(void)
{
    ZSTD_CCtx *z = ZSTD_createCCtx();

    if (z) {
        ZSTD_CCtx_setParameter(z, ZSTD_c_compressionLevel, 3);
        ZSTD_CCtx_setParameter(z, ZSTD_c_checksumFlag, 1);
    }
    return z;
}

static mo_compress_backend_step step_zstd(void *state,
                                          mo_compress_backend_io *io, bool last)
{
    ZSTD_inBuffer in = { io->in, io->in_left, 0 };
    ZSTD_outBuffer out = { io->out, io->out_left, 0 };
    size_t left = ZSTD_compressStream2(state, &out, &in,
                                       last ? ZSTD_e_end : ZSTD_e_continue);

    if (ZSTD_isError(left))
        return MO_COMPRESS_BACKEND_FAILED;
    io->in += in.pos;
    io->in_left -= in.pos;
    io->out_left -= out.pos;
    return (last ? left : io->in_left) > 0 ? MO_COMPRESS_BACKEND_MORE
                                           : MO_COMPRESS_BACKEND_DONE;
}

static void close_zstd(void *state)
{
    ZSTD_freeCCtx(state);
}

#else
#define open_zstd  NULL
#define step_zstd  NULL
#define close_zstd NULL
#endif

const mo_compress_backend mo_compress_backend_zstd = { ".zst", "libzstd",
                                                       open_zstd, step_zstd,
                                                       close_zstd };
