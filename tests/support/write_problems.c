/* SPDX-License-Identifier: Apache-2.0 */
/* Writes random problems as files, for tests that go through the commands:
 *
 *     write_problems FOLDER FIRST COUNT
 *
 * FOLDER/<seed>.graphml and, beside it, <seed>.cluster.xml. */
#include <stdio.h>
#include <stdlib.h>

#include "base/out.h"
#include "tests/support/problem.h"
#include "tests/support/random_problem.h"
#include "tests/support/suite.h"

/* Takes ownership of the text and frees it. */
static mo_status write_file(const char *folder, unsigned seed,
                            const char *ending, char *text, mo_error *err)
{
    char path[4096];
    mo_status status;
    mo_out *out;

    snprintf(path, sizeof path, "%s/%u%s", folder, seed, ending);
    status = mo_out_open(path, &out, err);
    if (status == MO_OK) {
        mo_out_text(out, text);
        status = mo_out_commit(out, err);
    }
    free(text);
    return status;
}

static mo_status write_problem(const char *folder, unsigned seed, mo_error *err)
{
    random_problem r;
    mo_status status;

    random_problem_make(&r, seed);
    status =
        write_file(folder, seed, ".graphml", problem_graphml(r.graph), err);
    if (status == MO_OK)
        status = write_file(folder, seed, ".cluster.xml",
                            problem_cluster_xml(r.cluster), err);
    random_problem_clear(&r);
    return status;
}

int main(int argc, char **argv)
{
    mo_error err = { 0 };
    unsigned first, count;
    char text[1024];

    if (argc != 4) {
        fputs("usage: write_problems FOLDER FIRST COUNT\n", stderr);
        return 2;
    }
    first = (unsigned) strtoul(argv[2], NULL, 10);
    count = (unsigned) strtoul(argv[3], NULL, 10);
    for (unsigned i = 0; i < count; i++)
        if (write_problem(argv[1], first + i, &err) != MO_OK) {
            fprintf(stderr, "write_problems: %s\n",
                    mo_error_format(&err, text, sizeof text));
            return 1;
        }
    return 0;
}
