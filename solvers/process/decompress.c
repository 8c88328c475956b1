/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "solvers/process/decompress.h"

#include <stdlib.h>

#include "base/out.h"
#include "base/reader.h"

enum { PIECE = 1 << 17 };

mo_status mo_decompress_needed(const char *path, bool *needed, mo_error *err)
{
    mo_reader *reader = NULL;
    mo_status status = mo_reader_open(path, &reader, err);

    *needed = false;
    if (status == MO_OK)
        status = mo_reader_is_packed(reader, needed, err);
    mo_reader_close(reader);
    return status;
}

mo_status mo_decompress_file(const char *path, const char *target,
                             mo_error *err)
{
    mo_reader *reader = NULL;
    mo_out *out = NULL;
    char *block = malloc(PIECE);
    size_t got = PIECE;
    mo_status status =
        block ? mo_reader_open(path, &reader, err) : mo_fail_memory(err);

    if (status == MO_OK)
        status = mo_out_open(target, &out, err);
    while (status == MO_OK && got == PIECE) {
        status = mo_reader_read(reader, block, PIECE, &got, err);
        if (status == MO_OK)
            mo_out_bytes(out, block, got);
    }
    if (status == MO_OK)
        status = mo_out_commit(out, err);
    else
        mo_out_abandon(out);
    mo_reader_close(reader);
    free(block);
    return status;
}
