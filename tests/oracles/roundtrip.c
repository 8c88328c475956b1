/* SPDX-License-Identifier: Apache-2.0 */
/*
 * roundtrip FILE: reads a graph of any format and writes it to standard output
 * as our GraphML, for scripts that compare what other programs make of it.
 */
#include <stdio.h>
#include <stdlib.h>

#include "ingest/graphml.h"
#include "ingest/read.h"

static mo_status copy(const char *path, mo_error *err)
{
    mo_graph *g;
    mo_out *out;
    mo_status status = mo_read_graph(path, NULL, &g, NULL, err);

    if (status != MO_OK)
        return status;
    status = mo_out_open("-", &out, err);
    if (status == MO_OK) {
        mo_graphml_write(g, out);
        status = mo_out_commit(out, err);
    }
    mo_graph_free(g);
    return status;
}

int main(int argc, char **argv)
{
    mo_error err = { 0 };
    char text[2000];

    if (argc != 2 || copy(argv[1], &err) != MO_OK) {
        fprintf(stderr, "roundtrip: %s\n",
                argc == 2 ? mo_error_format(&err, text, sizeof text)
                          : "give one file");
        return EXIT_FAILURE;
    }
    return EXIT_SUCCESS;
}
