/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "driver/report/solution_page.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/json.h"
#include "base/number.h"
#include "base/reader.h"
#include "report/trace_events.h"

enum { MOST_PROCESSES = MO_MAX_DEVICES };

/* An event as written; values are borrowed from the text. */
typedef struct raw_event {
    mo_json_member phase, process, row, name, start, duration, args;
} raw_event;

typedef struct trace {
    const char *path, *text;
    const mo_instance *x;
    mo_arena *arena;
    int device[MOST_PROCESSES]; /* by process; -1: not named */
    const char **sorted_names;  /* of ops, with their numbers */
    int *sorted_ops;
    mo_page_event *events;
    size_t n, room;
} trace;

static mo_status fail_event(const trace *t, const char *at, const char *what,
                            mo_error *err)
{
    int line = 1;

    for (const char *c = t->text; c < at; c++)
        line += *c == '\n';
    return mo_fail_at(err, MO_E_INPUT, t->path, line, "%s", what);
}

static mo_status read_event(const trace *t, const mo_json_member *item,
                            raw_event *event, mo_error *err)
{
    mo_json_cursor c;
    mo_json_member m;
    int found = -1;

    *event = (raw_event){ 0 };
    if (mo_json_open(&c, '{', item->value, item->value_length))
        while ((found = mo_json_take_member(&c, &m)) > 0) {
            const struct {
                const char *key;
                mo_json_member *to;
            } wanted[] = {
                { "ph", &event->phase },  { "pid", &event->process },
                { "tid", &event->row },   { "name", &event->name },
                { "ts", &event->start },  { "dur", &event->duration },
                { "args", &event->args },
            };

            for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
                if (mo_json_key_is(&m, wanted[i].key))
                    *wanted[i].to = m;
        }
    if (found < 0)
        return fail_event(t, item->value,
                          "is no trace event; use what moirai-exec "
                          "--trace writes",
                          err);
    return MO_OK;
}

static bool read_number(const mo_json_member *m, double *number)
{
    return m->value &&
           mo_number_read_double(m->value, m->value_length, number) ==
               MO_NUMBER_OK &&
           isfinite(*number);
}

/* Returns the number in a member between 0 and most - 1, or -1. */
static int read_index(const mo_json_member *m, int most)
{
    double number;

    return read_number(m, &number) && number >= 0 && number < most
               ? (int) number
               : -1;
}

/* Returns the text of a member, owned by the arena; NULL: none, or no
 * memory. */
static char *read_text(const trace *t, const mo_json_member *m)
{
    char *copy;
    size_t length;

    if (!m->value || m->value_length < 2 || m->value[0] != '"')
        return NULL;
    copy = mo_arena_alloc(t->arena, m->value_length);
    if (!copy ||
        !mo_json_unescape(m->value + 1, m->value_length - 2, copy, &length))
        return NULL;
    copy[length] = '\0';
    return copy;
}

/* {"ph":"M","pid":0,"name":"process_name","args":{"name":"gpu0"}} */
static mo_status take_process(trace *t, const raw_event *event, const char *at,
                              mo_error *err)
{
    const char *what = read_text(t, &event->name), *id = NULL;
    int process = read_index(&event->process, MOST_PROCESSES);
    mo_json_cursor c;
    mo_json_member m;

    if (!what || strcmp(what, "process_name") != 0 || process < 0 ||
        !event->args.value ||
        !mo_json_open(&c, '{', event->args.value, event->args.value_length))
        return MO_OK;
    while (mo_json_take_member(&c, &m) > 0)
        if (mo_json_key_is(&m, "name"))
            id = read_text(t, &m);
    for (int k = 0; id && k < t->x->n_devices; k++)
        if (strcmp(t->x->device_ids[k], id) == 0)
            t->device[process] = k;
    if (t->device[process] < 0)
        return fail_event(t, at,
                          "names a device that the placement does not "
                          "have; is it the trace of another run?",
                          err);
    return MO_OK;
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *) a, *(const char *const *) b);
}

static mo_status sort_names(trace *t, mo_error *err)
{
    const mo_instance *x = t->x;

    t->sorted_names =
        mo_arena_array(t->arena, (size_t) x->n + 1, sizeof *t->sorted_names);
    if (!t->sorted_names)
        return mo_fail_memory(err);
    memcpy(t->sorted_names, x->op_names,
           (size_t) x->n * sizeof *t->sorted_names);
    qsort(t->sorted_names, (size_t) x->n, sizeof *t->sorted_names,
          compare_names);
    t->sorted_ops =
        mo_arena_array(t->arena, (size_t) x->n + 1, sizeof *t->sorted_ops);
    if (!t->sorted_ops)
        return mo_fail_memory(err);
    for (int i = 0; i < x->n; i++) {
        const char **at =
            bsearch(&x->op_names[i], t->sorted_names, (size_t) x->n,
                    sizeof *t->sorted_names, compare_names);

        t->sorted_ops[at - t->sorted_names] = i;
    }
    return MO_OK;
}

static int find_op(const trace *t, const char *name)
{
    const char **at = t->x->n > 0
                          ? bsearch(&name, t->sorted_names, (size_t) t->x->n,
                                    sizeof *t->sorted_names, compare_names)
                          : NULL;

    return at ? t->sorted_ops[at - t->sorted_names] : -1;
}

static mo_status take_interval(trace *t, const raw_event *event, const char *at,
                               mo_error *err)
{
    int process = read_index(&event->process, MOST_PROCESSES);
    int row = read_index(&event->row, MO_TRACE_ROWS);
    const char *name = read_text(t, &event->name);
    double start, duration;
    mo_status status;

    if (process < 0 || t->device[process] < 0 || row < 0 || !name ||
        !read_number(&event->start, &start) ||
        !read_number(&event->duration, &duration) || start < 0 ||
        duration < 0 || start + duration > (double) MO_MAX_TIME_NS / 1000)
        return fail_event(t, at,
                          "is no event of a device; use what "
                          "moirai-exec --trace writes",
                          err);
    status = MO_ARRAY_GROW(t->events, t->n, t->room, err);
    if (status == MO_OK)
        t->events[t->n++] = (mo_page_event){
            .name = name,
            .op = row == MO_TRACE_CALLS ? find_op(t, name) : -1,
            .device = t->device[process],
            .is_transfer = row != MO_TRACE_CALLS,
            .is_sending = row == MO_TRACE_SENDING,
            .start_ns = llround(start * 1000),
            .end_ns = llround((start + duration) * 1000),
        };
    return status;
}

static mo_status find_events(const trace *t, mo_json_member *list,
                             mo_error *err)
{
    mo_json_cursor c;

    if (mo_json_open(&c, '{', t->text, strlen(t->text)))
        while (mo_json_take_member(&c, list) > 0)
            if (mo_json_key_is(list, "traceEvents") && *list->value == '[')
                return MO_OK;
    return mo_fail_at(err, MO_E_INPUT, t->path, 1,
                      "has no list of traceEvents; use what moirai-exec "
                      "--trace writes");
}

/* The first call begins at 0. */
static mo_status finish(trace *t, mo_page_measured **measured, mo_error *err)
{
    mo_page_measured *m = mo_arena_alloc(t->arena, sizeof *m);
    mo_page_event *events = mo_arena_array(t->arena, t->n + 1, sizeof *events);
    int64_t begin_ns = INT64_MAX;

    if (!m || !events)
        return mo_fail_memory(err);
    for (size_t i = 0; i < t->n; i++)
        if (t->events[i].start_ns < begin_ns)
            begin_ns = t->events[i].start_ns;
    if (t->n == 0 || t->n > INT_MAX)
        return mo_fail_at(err, MO_E_INPUT, t->path, 0,
                          "has no event of a call or transfer");
    *m = (mo_page_measured){ .file = t->path,
                             .n = (int) t->n,
                             .events = events };
    for (size_t i = 0; i < t->n; i++) {
        events[i] = t->events[i];
        events[i].start_ns -= begin_ns;
        events[i].end_ns -= begin_ns;
        if (events[i].end_ns > m->makespan_ns)
            m->makespan_ns = events[i].end_ns;
    }
    *measured = m;
    return MO_OK;
}

mo_status mo_trace_parse(const char *name, const char *text,
                         const mo_instance *x, mo_arena *arena,
                         mo_page_measured **measured, mo_error *err)
{
    trace t = { .path = name, .text = text, .x = x, .arena = arena };
    mo_json_member list;
    mo_status status = sort_names(&t, err);

    for (int i = 0; i < MOST_PROCESSES; i++)
        t.device[i] = -1;
    if (status == MO_OK)
        status = find_events(&t, &list, err);
    if (status == MO_OK) {
        mo_json_cursor c;
        mo_json_member item;

        mo_json_open(&c, '[', list.value, list.value_length);
        while (status == MO_OK && mo_json_take_item(&c, &item) > 0) {
            raw_event event;
            const char *phase;

            status = read_event(&t, &item, &event, err);
            phase = event.phase.value_length == 3 ? event.phase.value + 1 : "";
            if (status == MO_OK && *phase == 'M')
                status = take_process(&t, &event, item.value, err);
            else if (status == MO_OK && *phase == 'X')
                status = take_interval(&t, &event, item.value, err);
        }
    }
    if (status == MO_OK)
        status = finish(&t, measured, err);
    free(t.events);
    return status;
}

mo_status mo_trace_file_read(const char *path, const mo_instance *x,
                             mo_arena *arena, mo_page_measured **measured,
                             mo_error *err)
{
    char *text = NULL;
    size_t size;
    mo_status status = mo_reader_all(path, &text, &size, err);

    if (status == MO_OK)
        status = mo_trace_parse(path, text, x, arena, measured, err);
    free(text);
    return status;
}
