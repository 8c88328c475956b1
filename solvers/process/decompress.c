/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "solvers/process/decompress.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef HAVE_ZLIB
#include <zlib.h>
#endif
#ifdef HAVE_ZSTD
#include <zstd.h>
#endif

#include "base/out.h"

enum { PIECE = 1 << 17 };

typedef enum compression { PLAIN, GZIP, ZSTD } compression;

typedef mo_status unpacker(const char *path, char *block, mo_out *out,
                           mo_error *err);

static mo_status detect_format(const char *path, compression *how,
                               mo_error *err)
{
    static const unsigned char gzip[] = { 0x1f, 0x8b },
                               zstd[] = { 0x28, 0xb5, 0x2f, 0xfd };
    unsigned char first[4] = { 0 };
    FILE *file = fopen(path, "re");
    bool failed;

    if (!file)
        return mo_fail_errno(err, path, "cannot be opened");
    failed = fread(first, 1, sizeof first, file) == 0 && ferror(file);
    fclose(file);
    if (failed)
        return mo_fail_errno(err, path, "cannot be read");
    if (memcmp(first, gzip, sizeof gzip) == 0)
        *how = GZIP;
    else if (memcmp(first, zstd, sizeof zstd) == 0)
        *how = ZSTD;
    else
        *how = PLAIN;
    return MO_OK;
}

mo_status mo_decompress_needed(const char *path, bool *needed, mo_error *err)
{
    compression how;
    mo_status status = detect_format(path, &how, err);

    *needed = status == MO_OK && how != PLAIN;
    return status;
}

static mo_status fail_damaged(const char *path, mo_error *err)
{
    return mo_fail_at(err, MO_E_SYNTAX, path, 0,
                      "damaged, or not there to its end");
}

#ifdef HAVE_ZLIB
static mo_status unpack_gzip(const char *path, char *block, mo_out *out,
                             mo_error *err)
{
    gzFile file = gzopen(path, "re");
    int got;

    if (!file)
        return mo_fail_errno(err, path, "cannot be opened");
    while ((got = gzread(file, block, PIECE)) > 0)
        mo_out_bytes(out, block, (size_t) got);
    if (gzclose(file) != Z_OK || got < 0)
        return fail_damaged(path, err);
    return MO_OK;
}
#else
#define unpack_gzip NULL
#endif

#ifdef HAVE_ZSTD
/* Writes all output that the input yields. */
static size_t decompress_block(ZSTD_DStream *stream, ZSTD_inBuffer *input,
                               char *block, mo_out *out)
{
    size_t left;
    ZSTD_outBuffer output;

    do {
        output = (ZSTD_outBuffer){ block, PIECE, 0 };
        left = ZSTD_decompressStream(stream, &output, input);
        mo_out_bytes(out, block, output.pos);
    } while (!ZSTD_isError(left) &&
             (input->pos < input->size || output.pos == output.size));
    return left;
}

static mo_status unpack_zstd_file(FILE *file, const char *path, char *block,
                                  mo_out *out, mo_error *err)
{
    ZSTD_DStream *stream = ZSTD_createDStream();
    char *packed = malloc(PIECE);
    size_t left = 1, got;
    mo_status status = MO_OK;

    if (!stream || !packed)
        status = mo_fail_memory(err);
    while (status == MO_OK && (got = fread(packed, 1, PIECE, file)) > 0) {
        ZSTD_inBuffer input = { packed, got, 0 };

        left = decompress_block(stream, &input, block, out);
        if (ZSTD_isError(left))
            break;
    }
    if (status == MO_OK && left != 0)
        status = fail_damaged(path, err);
    free(packed);
    ZSTD_freeDStream(stream);
    return status;
}

static mo_status unpack_zstd(const char *path, char *block, mo_out *out,
                             mo_error *err)
{
    FILE *file = fopen(path, "re");
    mo_status status;

    if (!file)
        return mo_fail_errno(err, path, "cannot be opened");
    status = unpack_zstd_file(file, path, block, out, err);
    fclose(file);
    return status;
}
#else
#define unpack_zstd NULL
#endif

static mo_status unpack_with(unpacker *unpack, const char *path,
                             const char *target, mo_error *err)
{
    char *block = malloc(PIECE);
    mo_out *out = NULL;
    mo_status status =
        block ? mo_out_open(target, &out, err) : mo_fail_memory(err);

    if (status == MO_OK) {
        status = unpack(path, block, out, err);
        if (status == MO_OK)
            status = mo_out_commit(out, err);
        else
            mo_out_abandon(out);
    }
    free(block);
    return status;
}

mo_status mo_decompress_file(const char *path, const char *target,
                             mo_error *err)
{
    unpacker *const gzip = unpack_gzip, *const zstd = unpack_zstd;
    compression how = PLAIN;
    mo_status status = detect_format(path, &how, err);

    if (status != MO_OK)
        return status;
    if (how == GZIP ? !gzip : !zstd)
        return mo_fail_at(err, MO_E_SUPPORT, path, 0,
                          "compressed, and built without %s: unpack it first",
                          how == GZIP ? "zlib" : "zstd");
    return unpack_with(how == GZIP ? gzip : zstd, path, target, err);
}
