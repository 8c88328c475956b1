/* SPDX-License-Identifier: Apache-2.0 */
/*
 * weight_files.h - the files that hold the weights of a graph.
 */
#ifndef MO_DRIVER_WEIGHT_FILES_H
#define MO_DRIVER_WEIGHT_FILES_H

#include <stddef.h>

#include "base/error.h"
#include "graph/graph.h"

typedef struct mo_weight_file {
    char *name; /* as in the graph */
    char *path; /* beside the graph, unless name is an absolute path */
} mo_weight_file;

/* Starts as zeros. */
typedef struct mo_weight_files {
    mo_weight_file *list; /* sorted by name, each once */
    size_t n, room;
} mo_weight_files;

/* Lists the files that constants of g, which was read from the file graph,
 * refer to; whether they exist is not checked. The caller clears *files,
 * whatever the result. */
mo_status mo_weight_files_list(const mo_graph *g, const char *graph,
                               mo_weight_files *files, mo_error *err);
void mo_weight_files_clear(mo_weight_files *files);

#endif
