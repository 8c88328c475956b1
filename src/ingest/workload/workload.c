/* SPDX-License-Identifier: Apache-2.0 */
#include "ingest/workload.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/array.h"
#include "base/number.h"
#include "graph/phases.h"
#include "ingest/xml.h"

/* A phase as its element describes it; texts are in the arena. */
typedef struct phase_element {
    const char *name, *path, *shape, *value;
    int64_t weight;
    int line;
} phase_element;

typedef struct document {
    mo_xml *xml;
    const char *file, *name;
    phase_element *phases;
    size_t n, room;
    mo_arena *arena;
} document;

static mo_status keep_text(const document *d, const mo_xml_attribute *from,
                           const char **text, mo_error *err)
{
    *text = mo_arena_text(d->arena, from->value, from->length);
    return *text ? MO_OK : mo_fail_memory(err);
}

static mo_status refuse(const document *d, int line, const char *name,
                        const char *known, mo_error *err)
{
    return mo_fail_at(err, MO_E_INPUT, d->file, line,
                      "'%.60s' is unknown here; %s", name, known);
}

static mo_status read_weight(const document *d, const mo_xml_element *element,
                             const mo_xml_attribute *from, int64_t *weight,
                             mo_error *err)
{
    if (mo_number_read_int(from->value, from->length, weight) == MO_NUMBER_OK &&
        *weight >= 1 && *weight <= MO_MAX_PHASE_WEIGHT)
        return MO_OK;
    return mo_fail_at(err, MO_E_INPUT, d->file, element->line,
                      "weight '%.*s' is no number of runs; give 1 to %d",
                      (int) (from->length < 40 ? from->length : 40),
                      from->value, MO_MAX_PHASE_WEIGHT);
}

static mo_status start_root(document *d, const mo_xml_element *element,
                            mo_error *err)
{
    for (int i = 0; i < element->n_attributes; i++) {
        const mo_xml_attribute *from = &element->attributes[i];
        mo_status status;

        if (from->space)
            continue;
        if (strcmp(from->name, "name") != 0)
            return refuse(d, element->line, from->name,
                          "a workload has the attribute name", err);
        status = keep_text(d, from, &d->name, err);
        if (status != MO_OK)
            return status;
    }
    return MO_OK;
}

static mo_status start_phase(document *d, const mo_xml_element *element,
                             mo_error *err)
{
    phase_element *p;
    mo_status status = MO_ARRAY_GROW(d->phases, d->n, d->room, err);

    if (status != MO_OK)
        return status;
    p = &d->phases[d->n];
    *p = (phase_element){ .weight = 1, .line = element->line };
    for (int i = 0; i < element->n_attributes && status == MO_OK; i++) {
        const mo_xml_attribute *from = &element->attributes[i];

        if (from->space)
            continue;
        if (strcmp(from->name, "name") == 0)
            status = keep_text(d, from, &p->name, err);
        else if (strcmp(from->name, "graph") == 0)
            status = keep_text(d, from, &p->path, err);
        else if (strcmp(from->name, "shape") == 0)
            status = keep_text(d, from, &p->shape, err);
        else if (strcmp(from->name, "value") == 0)
            status = keep_text(d, from, &p->value, err);
        else if (strcmp(from->name, "weight") == 0)
            status = read_weight(d, element, from, &p->weight, err);
        else
            status = refuse(d, element->line, from->name,
                            "a phase has the attributes name, graph, weight, "
                            "shape and value",
                            err);
    }
    if (status == MO_OK && !p->path)
        status = mo_fail_at(err, MO_E_INPUT, d->file, element->line,
                            "the phase has no graph; add graph=\"FILE\"");
    if (status == MO_OK && d->n >= MO_MAX_PHASES)
        status = mo_fail_at(err, MO_E_LIMIT, d->file, element->line,
                            "more than %d phases", MO_MAX_PHASES);
    d->n += status == MO_OK;
    return status;
}

static mo_status start(void *state, const mo_xml_element *element,
                       mo_error *err)
{
    document *d = state;

    if (element->depth == 0)
        return start_root(d, element, err);
    if (element->depth == 1 && strcmp(element->name, "phase") == 0)
        return start_phase(d, element, err);
    return refuse(d, element->line, element->name,
                  "a workload has elements <phase>", err);
}

static mo_status end(void *state, const char *name, const char *text,
                     size_t length, int line, mo_error *err)
{
    (void) state;
    (void) name;
    (void) text;
    (void) length;
    (void) line;
    (void) err;
    return MO_OK;
}

/* The graph's file without folder and suffix, unless the phase has a name. */
static mo_status name_phase(const document *d, phase_element *p, mo_error *err)
{
    const char *slash = strrchr(p->path, '/');
    const char *base = slash && slash[1] ? slash + 1 : p->path;
    size_t length = strcspn(base, ".");

    if (!p->name || !*p->name)
        p->name =
            mo_arena_text(d->arena, base, length > 0 ? length : strlen(base));
    if (!p->name)
        return mo_fail_memory(err);
    for (const phase_element *q = d->phases; q < p; q++)
        if (strcmp(q->name, p->name) == 0)
            return mo_fail_at(err, MO_E_INPUT, d->file, p->line,
                              "two phases are called '%.200s'; give one of "
                              "them another name",
                              p->name);
    return MO_OK;
}

/* Adds the words of text to a copy of the list in the arena. */
static mo_status join_lists(const document *d, const mo_option_list *given,
                            const char *text, mo_option_list *joined,
                            mo_error *err)
{
    size_t length = text ? strlen(text) : 0, n = given ? given->count : 0;
    char *copy = mo_arena_text(d->arena, text ? text : "", length), *next;

    joined->items =
        mo_arena_array(d->arena, n + length / 2 + 1, sizeof *joined->items);
    if (!copy || !joined->items)
        return mo_fail_memory(err);
    for (char *word = strtok_r(copy, " \t\r\n", &next); word;
         word = strtok_r(NULL, " \t\r\n", &next))
        joined->items[joined->count++] = word;
    for (size_t i = 0; i < n; i++)
        joined->items[joined->count++] = given->items[i];
    return MO_OK;
}

/* A relative path is one from the folder of the workload. */
static const char *path_of(const document *d, const char *path)
{
    const char *slash = strrchr(d->file, '/');
    size_t folder =
        slash && path[0] != '/' ? (size_t) (slash + 1 - d->file) : 0;
    char *made = mo_arena_array(d->arena, folder + strlen(path) + 1, 1);

    if (made) {
        memcpy(made, d->file, folder);
        strcpy(made + folder, path);
    }
    return made;
}

/* A workload in a workload could be itself. */
static mo_status read_graph(const document *d, const char *path,
                            const mo_read_options *options,
                            const phase_element *from, mo_graph **graph,
                            mo_error *err)
{
    const mo_read_format *format = NULL;
    mo_input *input = NULL;
    mo_error why = { 0 };
    char text[MO_ERROR_TEXT_SIZE];
    mo_status status = mo_input_open(path, &input, &why);

    if (status == MO_E_MEMORY)
        return mo_fail_memory(err);
    if (status != MO_OK)
        return mo_fail_at(err, status, d->file, from->line,
                          "phase '%.200s': %.700s", from->name,
                          mo_error_format(&why, text, sizeof text));
    status = mo_read_find_format(input, &format, err);
    if (status == MO_OK && format && format->read == mo_workload_read)
        status = mo_fail_at(err, MO_E_SUPPORT, d->file, from->line,
                            "'%.200s' is a workload itself; list its phases "
                            "here",
                            from->path);
    if (status == MO_OK)
        status = mo_read_input(input, options, graph, NULL, err);
    mo_input_close(input);
    if (status == MO_OK && (*graph)->phases)
        status = mo_fail_at(
            err, MO_E_SUPPORT, d->file, from->line,
            "%s makes a workload of '%.200s'; give a phase %s",
            mo_workload_has_shapes(options) ? "a list of shapes"
                                            : "the value generate",
            from->path,
            mo_workload_has_shapes(options) ? "one of them"
                                            : "the value prompt or context");
    return status;
}

static mo_status read_phases(document *d, const mo_read_options *options,
                             mo_graph **graph, mo_error *err)
{
    mo_phase *phases = mo_arena_array(d->arena, d->n, sizeof *phases);
    mo_status status = phases ? MO_OK : mo_fail_memory(err);

    for (size_t i = 0; i < d->n && status == MO_OK; i++)
        status = name_phase(d, &d->phases[i], err);
    for (size_t i = 0; i < d->n && status == MO_OK; i++) {
        const phase_element *from = &d->phases[i];
        mo_phase *phase = &phases[i];
        const char *path = path_of(d, from->path);
        mo_read_options its = { .hints = options ? options->hints
                                                 : (mo_option_list){ 0 } };

        status = path ? MO_OK : mo_fail_memory(err);
        if (status == MO_OK && strcmp(from->path, "-") == 0)
            status = mo_fail_at(err, MO_E_INPUT, d->file, from->line,
                                "a phase has no standard input; give a file");
        if (status == MO_OK)
            status = join_lists(d, options ? &options->shapes : NULL,
                                from->shape, &its.shapes, err);
        if (status == MO_OK)
            status = join_lists(d, options ? &options->values : NULL,
                                from->value, &its.values, err);
        if (status == MO_OK)
            status = read_graph(d, path, &its, from, &phase->graph, err);
        phase->name = from->name;
        phase->weight = from->weight;
    }
    if (status == MO_OK) {
        status = mo_phases_compose(d->name, phases, (int) d->n, graph, err);
        if (status != MO_OK)
            mo_error_set_location(err, d->file, 0);
    }
    for (size_t i = 0; i < d->n && status != MO_OK && phases; i++)
        mo_graph_free(phases[i].graph);
    return status;
}

mo_status mo_workload_read(mo_input *input, const mo_read_options *options,
                           mo_graph **graph, mo_error *err)
{
    static const mo_xml_handler handler = { start, end };
    document d = { .file = mo_input_name(input), .arena = mo_arena_new() };
    mo_status status = d.arena ? mo_xml_parse(input, &handler, &d, &d.xml, err)
                               : mo_fail_memory(err);

    if (status == MO_OK && d.n == 0)
        status = mo_fail_at(err, MO_E_INPUT, d.file, 0,
                            "the workload has no phase; add <phase "
                            "graph=\"FILE\" weight=\"N\"/>");
    if (status == MO_OK)
        status = read_phases(&d, options, graph, err);
    free(d.phases);
    mo_arena_free(d.arena);
    return status;
}
