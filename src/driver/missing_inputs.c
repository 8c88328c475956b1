/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "driver/missing_inputs.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "driver/weight_files.h"

/* Appends to a text of limited size; what does not fit is left out. */
static void append(char *text, size_t size, const char *format, ...)
    MO_PRINTF(3, 4);

static void append(char *text, size_t size, const char *format, ...)
{
    size_t used = strlen(text);
    va_list args;

    va_start(args, format);
    vsnprintf(text + used, size - used, format, args);
    va_end(args);
}

/* Weight files that are not beside the graph, which was found. */
static mo_status append_weights(const char *graph, const mo_read_options *read,
                                char *text, size_t size, mo_error *err)
{
    mo_weight_files files = { 0 };
    mo_graph *g = NULL;
    mo_error why = { 0 };
    mo_status status = mo_read_graph(graph, read, &g, NULL, &why);

    if (status == MO_OK)
        status = mo_weight_files_list(g, graph, &files, &why);
    for (size_t i = 0; status == MO_OK && i < files.n; i++)
        if (access(files.list[i].path, F_OK) != 0)
            append(text, size, "; weights %.100s", files.list[i].name);
    mo_weight_files_clear(&files);
    mo_graph_free(g);
    return status == MO_E_MEMORY ? mo_fail_memory(err) : MO_OK;
}

mo_status mo_missing_inputs_fail(const mo_locate_query *what,
                                 const mo_provenance *origin,
                                 const mo_locate_search *search, mo_error *err)
{
    const char *shapes[MO_IDENTITY_SHAPES];
    const mo_read_options read = mo_locate_read_options(what, origin, shapes);
    const mo_locate_input *graph = &search->inputs[MO_LOCATE_GRAPH];
    char missing[640] = "", searched[200] = "", options[100] = "";
    int n = 0;

    for (int i = 0; i < MO_LOCATE_KINDS; i++) {
        const mo_locate_input *input = &search->inputs[i];

        if (!input->needed || input->path)
            continue;
        n++;
        append(missing, sizeof missing, "%s%s", missing[0] ? "; " : "",
               input->what);
        if (input->name[0])
            append(missing, sizeof missing, " %.90s", input->name);
        if (input->has_digest)
            append(missing, sizeof missing, " (%016" PRIx64 ")", input->digest);
        if (input->note[0])
            append(missing, sizeof missing, ", but %s", input->note);
        append(options, sizeof options, "%s%s", options[0] ? ", " : "",
               input->option);
        if (i == MO_LOCATE_GRAPH && origin->shapes_cut &&
            what->read.n_shapes == 0)
            append(options, sizeof options, " with --shape");
    }
    if (what->weights && graph->path &&
        append_weights(graph->path, &read, missing, sizeof missing, err) !=
            MO_OK)
        return MO_E_MEMORY;
    for (size_t i = 0; i < search->folders.n; i++)
        append(searched, sizeof searched, "%s%.60s", i > 0 ? ", " : "",
               search->folders.path[i]);
    return mo_fail_at(err, MO_E_INPUT, what->beside, 0,
                      "missing here: %s; searched: %s; give %s with %s, add "
                      "%s to MOIRAI_PATH, or run moirai-exec --bundle where "
                      "everything is",
                      missing, searched, n > 1 ? "them" : "it", options,
                      n > 1 ? "their folders" : "its folder");
}
