/* SPDX-License-Identifier: Apache-2.0 */
/* Lists of shapes: a phase is the graph at one of them. */
#include "ingest/workload.h"

#include <string.h>

#include "base/arena.h"
#include "graph/phases.h"
#include "graph/shape.h"

/* Returns what follows the name in "NAME=DIMS;DIMS"; a name may have a '='. */
static const char *find_list(const char *item)
{
    const char *mark = strrchr(item, '=');

    return mark ? mark + 1 : item;
}

static int count_shapes(const char *item)
{
    int n = 1;

    for (const char *at = find_list(item); (at = strchr(at, ';')); at++)
        n++;
    return n;
}

bool mo_workload_has_shapes(const mo_read_options *options)
{
    for (size_t i = 0; options && i < options->shapes.count; i++)
        if (count_shapes(options->shapes.items[i]) > 1)
            return true;
    return false;
}

/* Returns the shape of number at, of *length bytes; the only one of a list of
 * one. */
static const char *find_shape(const char *item, int at, size_t *length)
{
    const char *shape = find_list(item);

    for (int i = 0; i < at && strchr(shape, ';'); i++)
        shape = strchr(shape, ';') + 1;
    *length = strcspn(shape, ";");
    return shape;
}

static mo_status count_phases(const mo_option_list *lists, int *n,
                              mo_error *err)
{
    const char *longest = NULL;

    *n = 1;
    for (size_t i = 0; i < lists->count; i++) {
        int count = count_shapes(lists->items[i]);

        if (count > 1 && *n > 1 && count != *n)
            return mo_fail(err, MO_E_USAGE,
                           "--shape %.200s has %d shapes, and %.200s has %d; "
                           "give each input as many, or one for all",
                           longest, *n, lists->items[i], count);
        if (count > *n) {
            longest = lists->items[i];
            *n = count;
        }
    }
    return *n <= MO_MAX_PHASES
               ? MO_OK
               : mo_fail(err, MO_E_LIMIT,
                         "--shape %.200s has %d shapes; give at most %d",
                         longest, *n, MO_MAX_PHASES);
}

/* Sets the shapes of a phase: "NAME=DIMS" for each list. */
static mo_status pick_shapes(mo_arena *arena, const mo_option_list *lists,
                             int p, mo_option_list *picked, mo_error *err)
{
    picked->items = mo_arena_array(arena, lists->count, sizeof *picked->items);
    for (size_t i = 0; picked->items && i < lists->count; i++) {
        const char *item = lists->items[i];
        size_t length, name = (size_t) (find_list(item) - item);
        const char *shape = find_shape(item, p, &length);
        char *text = mo_arena_array(arena, name + length + 1, 1);

        if (!text)
            return mo_fail_memory(err);
        memcpy(text, item, name);
        memcpy(text + name, shape, length);
        picked->items[picked->count++] = text;
    }
    return picked->items ? MO_OK : mo_fail_memory(err);
}

/* Names phase p "8x128", by the first n lists that are of several shapes. */
static char *name_phase(mo_arena *arena, const mo_option_list *lists, int p,
                        size_t n)
{
    size_t room = 1, length, at = 0;
    char *name;

    for (size_t i = 0; i < lists->count; i++)
        room += strlen(lists->items[i]) + MO_SHAPE_TEXT_SIZE + 1;
    name = mo_arena_array(arena, room, 1);
    for (size_t i = 0; name && i < lists->count && n > 0; i++) {
        const char *shape = find_shape(lists->items[i], p, &length);
        char text[MO_SHAPE_TEXT_SIZE];
        mo_shape read;

        if (count_shapes(lists->items[i]) == 1)
            continue;
        /* "01,32" is the shape "1,32". */
        if (mo_shape_read(shape, length, &read) == MO_SHAPE_OK) {
            length = mo_shape_write(&read, text);
            shape = text;
        }
        if (at > 0)
            name[at++] = '_';
        for (size_t k = 0; k < length; k++)
            if (shape[k] != ' ')
                name[at++] = (char) (shape[k] == ',' ? 'x' : shape[k]);
        n--;
    }
    return name;
}

/* The first list names the phases, unless it has a shape twice. */
static mo_status name_phases(mo_arena *arena, const mo_option_list *lists,
                             mo_phase *phases, int n, mo_error *err)
{
    for (size_t most = 1; most <= lists->count; most++) {
        const char *twice = NULL;

        for (int p = 0; p < n; p++) {
            phases[p].name = name_phase(arena, lists, p, most);
            if (!phases[p].name)
                return mo_fail_memory(err);
            for (int q = 0; q < p; q++)
                if (strcmp(phases[q].name, phases[p].name) == 0)
                    twice = phases[p].name;
        }
        if (!twice)
            return MO_OK;
        if (most == lists->count)
            return mo_fail(err, MO_E_USAGE,
                           "--shape lists the shape %.200s twice; give each "
                           "of them once",
                           twice);
    }
    return MO_OK;
}

static mo_status read_shape(mo_arena *arena, const mo_input *input,
                            const mo_read_options *options, int p,
                            mo_graph **graph, mo_error *err)
{
    mo_read_options its = { .values = options->values,
                            .hints = options->hints };
    mo_input *again = NULL;
    mo_status status =
        pick_shapes(arena, &options->shapes, p, &its.shapes, err);

    if (status == MO_OK)
        status = mo_input_reopen(input, &again, err);
    if (status == MO_OK)
        status = mo_read_input(again, &its, graph, NULL, err);
    mo_input_close(again);
    return status;
}

mo_status mo_workload_read_shapes(const mo_input *input,
                                  const mo_read_options *options,
                                  mo_graph **graph, mo_error *err)
{
    mo_arena *arena = mo_arena_new();
    mo_phase *phases = NULL;
    int n = 0;
    mo_status status =
        arena ? count_phases(&options->shapes, &n, err) : mo_fail_memory(err);

    if (status == MO_OK) {
        phases = mo_arena_array(arena, (size_t) n, sizeof *phases);
        status = phases ? name_phases(arena, &options->shapes, phases, n, err)
                        : mo_fail_memory(err);
    }
    for (int p = 0; p < n && status == MO_OK; p++) {
        phases[p].weight = 1;
        status = read_shape(arena, input, options, p, &phases[p].graph, err);
    }
    if (status == MO_OK) {
        status =
            mo_phases_compose(phases[0].graph->name, phases, n, graph, err);
        if (status != MO_OK)
            mo_error_set_location(err, mo_input_name(input), 0);
    }
    for (int p = 0; p < n && phases && status != MO_OK; p++)
        mo_graph_free(phases[p].graph);
    mo_arena_free(arena);
    return status;
}
