/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "driver/weight_files.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "solvers/process/path_util.h"

/* The length of the file's name in "file:offset:size:dtype:shape"; the name
 * may have colons, too. 0: there is none. */
static size_t name_length(const char *weights)
{
    const char *end = weights + strlen(weights);

    for (int colons = 0; colons < 4; colons++) {
        while (end > weights && end[-1] != ':')
            end--;
        if (end == weights)
            return 0;
        end--;
    }
    return (size_t) (end - weights);
}

static bool is_listed(const mo_weight_files *files, const char *name,
                      size_t length)
{
    for (size_t i = files->n; i-- > 0;)
        if (strncmp(files->list[i].name, name, length) == 0 &&
            files->list[i].name[length] == '\0')
            return true;
    return false;
}

static mo_status add_file(mo_weight_files *files, const char *folder,
                          size_t folder_length, const char *name, size_t length,
                          mo_error *err)
{
    mo_weight_file made = { 0 };
    mo_status status = MO_ARRAY_GROW(files->list, files->n, files->room, err);

    if (status != MO_OK)
        return status;
    made.name = strndup(name, length);
    made.path = name[0] == '/' ? strndup(name, length)
                               : mo_path_format("%.*s%.*s", (int) folder_length,
                                                folder, (int) length, name);
    files->list[files->n++] = made;
    return made.name && made.path ? MO_OK : mo_fail_memory(err);
}

static int compare_names(const void *a, const void *b)
{
    const mo_weight_file *f = a, *g = b;

    return strcmp(f->name, g->name);
}

mo_status mo_weight_files_list(const mo_graph *g, const char *graph,
                               mo_weight_files *files, mo_error *err)
{
    size_t folder = (size_t) (mo_path_basename(graph) - graph);
    mo_status status = MO_OK;

    for (int i = g->n_ops; i < g->n_ops + g->n_constants && status == MO_OK;
         i++) {
        const char *weights = g->ops[i].weights;
        size_t length = weights ? name_length(weights) : 0;

        if (length > 0 && !is_listed(files, weights, length))
            status = add_file(files, graph, folder, weights, length, err);
    }
    if (status == MO_OK && files->n > 1)
        qsort(files->list, files->n, sizeof *files->list, compare_names);
    return status;
}

void mo_weight_files_clear(mo_weight_files *files)
{
    for (size_t i = 0; i < files->n; i++) {
        free(files->list[i].name);
        free(files->list[i].path);
    }
    free(files->list);
    *files = (mo_weight_files){ 0 };
}
