/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "driver/text_file.h"

#include <stdio.h>
#include <string.h>

#include "base/array.h"

enum { BLOCK = 1 << 20 };

static mo_status read_all(const char *path, FILE *file, char **text,
                          size_t *size, mo_error *err)
{
    size_t room = 0, got;
    mo_status status;

    do {
        status =
            mo_array_reserve((void **) text, &room, *size + BLOCK + 1, 1, err);
        if (status != MO_OK)
            return status;
        got = fread(*text + *size, 1, BLOCK, file);
        *size += got;
    } while (got == BLOCK);
    (*text)[*size] = '\0';
    return ferror(file) ? mo_fail_errno(err, path, "cannot read") : MO_OK;
}

mo_status mo_text_file_read(const char *path, char **text, size_t *size,
                            mo_error *err)
{
    FILE *file;
    mo_status status;

    *size = 0;
    if (strcmp(path, "-") == 0)
        return read_all("<stdin>", stdin, text, size, err);
    file = fopen(path, "rbe");
    if (!file)
        return mo_fail_errno(err, path, "cannot open");
    status = read_all(path, file, text, size, err);
    fclose(file);
    return status;
}
