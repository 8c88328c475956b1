/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "solvers/plugins/highs_improving_file.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/out.h"
#include "base/reader.h"

static const char heading[] = "Objective ";

/* The parts of a solution in the file. */
typedef struct block {
    const char *objective, *columns,
        *end; /* start of the values; of the lines; of what follows */
} block;

/* Returns the start of the next line; NULL: none. */
static const char *find_next_line(const char *text)
{
    const char *end = strchr(text, '\n');

    return end ? end + 1 : NULL;
}

/* Returns false when it is incomplete. */
static bool read_block(const char *text, block *b)
{
    const char *counted = find_next_line(text), *line;
    long n;

    b->objective = text + strlen(heading);
    if (!counted || sscanf(counted, "# Columns %ld", &n) != 1)
        return false;
    b->columns = line = find_next_line(counted);
    while (line && n-- > 0)
        line = find_next_line(line);
    b->end = line;
    return line != NULL;
}

/* Searches from the start: a column may have any name. */
static bool find_last_block(const char *text, block *last)
{
    block b;
    bool any = false;

    while (strncmp(text, heading, strlen(heading)) == 0 &&
           read_block(text, &b)) {
        *last = b;
        any = true;
        text = b.end;
    }
    return any;
}

static mo_status read_block_as_solution(const char *path, const block *b,
                                        mo_solution **solution, mo_error *err)
{
    mo_out *out;
    mo_status status = mo_out_memory(&out, err);
    const char *text;
    size_t size;

    if (status != MO_OK)
        return status;
    mo_out_text(out, "# status: feasible\n=obj= ");
    mo_out_bytes(out, b->objective,
                 (size_t) (find_next_line(b->objective) - b->objective));
    mo_out_bytes(out, b->columns, (size_t) (b->end - b->columns));
    text = mo_out_borrow(out, &size);
    status = text ? mo_solution_read_memory(path, text, size, solution, err)
                  : mo_fail_memory(err);
    mo_out_abandon(out);
    return status;
}

/* Reads the file, or the end of it that the limit of inputs allows: the last
 * solution is wanted. */
static char *read_file(FILE *file, mo_error *err)
{
    uint64_t most;
    long size = -1;
    char *text;
    size_t got;

    if (mo_reader_memory_limit(&most, err) != MO_OK)
        return NULL;
    if (fseek(file, 0, SEEK_END) == 0 && (size = ftell(file)) >= 0 &&
        (uint64_t) size > most)
        size = (long) most;
    if (size < 0 || fseek(file, -size, SEEK_END) != 0) {
        mo_fail_errno(err, "", "cannot be read");
        return NULL;
    }
    text = malloc((size_t) size + 1);
    if (!text) {
        mo_fail_memory(err);
        return NULL;
    }
    got = fread(text, 1, (size_t) size, file);
    text[got] = 0;
    return text;
}

mo_status mo_highs_improving_file_read(const char *path, mo_solution **solution,
                                       mo_error *err)
{
    FILE *file = fopen(path, "re");
    mo_status status = MO_OK;
    block last;
    char *text;

    if (!file)
        return errno == ENOENT ? MO_OK
                               : mo_fail_errno(err, path, "cannot be opened");
    text = read_file(file, err);
    (void) fclose(file);
    if (!text)
        return MO_E_IO;
    if (find_last_block(text, &last))
        status = read_block_as_solution(path, &last, solution, err);
    free(text);
    return status;
}
