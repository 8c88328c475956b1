/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "driver/model_file.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/out.h"
#include "models/identity.h"

/* The identity comments are among the first lines. */
enum { LINES = 40, LINE = 512, BLOCK = 1 << 16 };

/* Names of identity columns, in the form of a solution. */
typedef struct names {
    char text[MO_IDENTITY_NAMES][MO_VARIABLE_NAME];
    mo_solution_value values[MO_IDENTITY_NAMES];
    int n;
} names;

static void take_line(names *to, const char *line)
{
    static const char mark[] = " identity: ";

    if ((line[0] != '\\' && line[0] != '*') ||
        strncmp(line + 1, mark, sizeof mark - 1) != 0 ||
        to->n == MO_IDENTITY_NAMES)
        return;
    snprintf(to->text[to->n], sizeof to->text[to->n], "%.*s",
             (int) strcspn(line + sizeof mark, "\r\n"), line + sizeof mark);
    to->values[to->n] =
        (mo_solution_value){ .name = to->text[to->n], .value = 1, .line = 0 };
    to->n++;
}

mo_status mo_model_file_provenance(const char *path, mo_provenance *origin,
                                   mo_error *err)
{
    FILE *file = fopen(path, "re");
    names found = { .n = 0 };
    mo_solution columns = { .values = found.values };
    char line[LINE];

    if (!file)
        return mo_fail_errno(err, path, "cannot open");
    for (int i = 0; i < LINES && fgets(line, sizeof line, file); i++)
        take_line(&found, line);
    fclose(file);
    columns.n = found.n;
    return mo_answer_provenance(&columns, origin, err);
}

/* Returns the file name for a model by its first word: MPS has one, LP
 * several. */
static const char *name_for(const char *block, size_t size)
{
    bool mps = size >= 4 && (strncmp(block, "NAME", 4) == 0 || *block == '*');

    return mps ? "stdin.mps" : "stdin.lp";
}

static mo_status copy_rest(const char *path, const char *block, size_t size,
                           mo_error *err)
{
    char more[BLOCK];
    mo_out *out;
    mo_status status = mo_out_open(path, &out, err);

    if (status != MO_OK)
        return status;
    mo_out_bytes(out, block, size);
    while ((size = fread(more, 1, sizeof more, stdin)) > 0)
        mo_out_bytes(out, more, size);
    if (ferror(stdin)) {
        mo_out_abandon(out);
        return mo_fail_errno(err, "<stdin>", "cannot read");
    }
    return mo_out_commit(out, err);
}

mo_status mo_model_file_spool(const mo_workdir *folder, char **path,
                              mo_error *err)
{
    char block[BLOCK];
    size_t size = fread(block, 1, sizeof block, stdin);

    *path = mo_workdir_file(folder, name_for(block, size));
    return *path ? copy_rest(*path, block, size, err) : mo_fail_memory(err);
}
