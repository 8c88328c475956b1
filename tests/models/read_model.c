/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tests/models/read_model FILE - reads a model with the strict reader, LP
 * unless the name ends in .mps, and prints its rows, columns, entries and
 * integers.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "tests/models/strict_reader.h"

/* Returns the contents with a terminating 0; NULL when that fails. */
static char *read_whole(FILE *file)
{
    char *text = NULL;
    size_t n = 0, room = 0, got = 1;

    while (got > 0) {
        if (mo_array_reserve((void **) &text, &room, n + 65536, 1, NULL) !=
            MO_OK)
            break;
        got = fread(text + n, 1, room - n - 1, file);
        n += got;
    }
    if (!text || got > 0 || ferror(file) || memchr(text, '\0', n)) {
        free(text);
        return NULL;
    }
    text[n] = '\0';
    return text;
}

static bool is_mps(const char *path)
{
    size_t length = strlen(path);

    return length > 4 && strcmp(path + length - 4, ".mps") == 0;
}

int main(int argc, char **argv)
{
    FILE *file = argc == 2 ? fopen(argv[1], "r") : NULL;
    char *text = file ? read_whole(file) : NULL;
    strict_model m = { 0 };
    bool good;

    if (file)
        fclose(file);
    if (!text) {
        fprintf(stderr, "read_model: cannot read one file\n");
        return 1;
    }
    good =
        is_mps(argv[1]) ? strict_read_mps(&m, text) : strict_read_lp(&m, text);
    if (good)
        printf("%zu %zu %zu %zu\n", m.n_rows - 1, m.n_columns,
               strict_nonzeros(&m), strict_integers(&m));
    else
        fprintf(stderr, "%s:%d: %s\n", argv[1], m.line, m.fault);
    strict_free(&m);
    free(text);
    return good ? 0 : 1;
}
