/* SPDX-License-Identifier: Apache-2.0 */
/* Zstandard compression and decompression by libzstd. */
#include <config.h>

#include "base/compress_backend.h"

#ifdef HAVE_ZSTD

#include <zstd.h>
#include <zstd_errors.h>

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

static void *open_unzstd(void)
{
    return ZSTD_createDStream();
}

/* The window size of a frame is limited to 128 MiB by the library. */
static mo_decompress_backend_step step_unzstd(void *state,
                                              mo_compress_backend_io *io)
{
    ZSTD_inBuffer in = { io->in, io->in_left, 0 };
    ZSTD_outBuffer out = { io->out, io->out_left, 0 };
    size_t left = ZSTD_decompressStream(state, &out, &in);

    if (ZSTD_isError(left)) {
        ZSTD_ErrorCode code = ZSTD_getErrorCode(left);

        return code == ZSTD_error_memory_allocation ||
                       code == ZSTD_error_frameParameter_windowTooLarge
                   ? MO_DECOMPRESS_BACKEND_MEMORY
                   : MO_DECOMPRESS_BACKEND_DAMAGED;
    }
    io->in += in.pos;
    io->in_left -= in.pos;
    io->out += out.pos;
    io->out_left -= out.pos;
    return left == 0 ? MO_DECOMPRESS_BACKEND_END : MO_DECOMPRESS_BACKEND_MORE;
}

static void close_unzstd(void *state)
{
    ZSTD_freeDStream(state);
}

#else
#define open_zstd    NULL
#define step_zstd    NULL
#define close_zstd   NULL
#define open_unzstd  NULL
#define step_unzstd  NULL
#define close_unzstd NULL
#endif

const mo_compress_backend mo_compress_backend_zstd = {
    .ending = ".zst",
    .format = "zstd",
    .library = "libzstd",
    .program = "unzstd",
    .magic = "\x28\xb5\x2f\xfd",
    .n_magic = 4,
    .open = open_zstd,
    .step = step_zstd,
    .close = close_zstd,
    .open_reader = open_unzstd,
    .unpack = step_unzstd,
    .close_reader = close_unzstd,
};
