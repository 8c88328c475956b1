/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/build/cycle.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "graph/build/sort.h"

/*
 * Whatever sorting left over waits for something else that was left over.  So
 * walking from any such op to one it waits for, and on, must come to an op
 * twice: that one stands on a cycle.  A search in breadth from there finds the
 * shortest way back to it.
 */
enum { MAX_STEPS = 8, HEAD_STEPS = 4, TAIL_STEPS = 3 };

struct search {
    const mo_builder *b;
    const int *place;
    int *via; /* slot: the edge by which it was come upon, or -1 */
    int *queue;
    int *out_start, *out_edges;
};

static bool is_left(const struct search *s, const mo_edge *edge)
{
    return s->place[edge->from] < 0 && s->place[edge->to] < 0 &&
           s->b->constants[edge->from] == s->b->constants[edge->to];
}

static void forget_ways(struct search *s)
{
    for (size_t i = 0; i < s->b->n_ops; i++)
        s->via[i] = -1;
}

static int slot_on_cycle(struct search *s)
{
    const mo_edge *edges = s->b->edges;
    int slot = 0;

    forget_ways(s);
    for (int e = (int) s->b->n_edges - 1; e >= 0; e--)
        if (is_left(s, &edges[e]))
            s->via[edges[e].to] = e;
    while (s->place[slot] >= 0)
        slot++;
    while (s->via[slot] >= 0) {
        int before = edges[s->via[slot]].from;
        s->via[slot] = -1; /* been here */
        slot = before;
    }
    return slot;
}

/* Fills via along shortest ways from slot and returns the edge that closes the
 * first, shortest, cycle.  Ways to ops that did get a place are
 * dead ends. */
static int closing_edge(struct search *s, int slot)
{
    int head = 0, tail = 0;

    forget_ways(s);
    s->queue[tail++] = slot;
    for (;;) {
        int at = s->queue[head++];
        for (int i = s->out_start[at]; i < s->out_start[at + 1]; i++) {
            int e = s->out_edges[i], to = s->b->edges[e].to;
            if (to == slot)
                return e;
            if (s->via[to] < 0) {
                s->via[to] = e;
                s->queue[tail++] = to;
            }
        }
    }
}

/* Writes the cycle's edges to path, first to last; returns how many. */
static int trace(const struct search *s, int closing, int *path)
{
    int length = 1, at = closing;

    while (s->via[s->b->edges[at].from] >= 0) {
        at = s->via[s->b->edges[at].from];
        length++;
    }
    at = closing;
    for (int i = length - 1; i >= 0; i--) {
        path[i] = at;
        at = s->via[s->b->edges[at].from];
    }
    return length;
}

struct text {
    char bytes[MO_ERROR_TEXT_SIZE];
    size_t length;
};

static void MO_PRINTF(2, 3) append(struct text *t, const char *format, ...)
{
    size_t room = sizeof t->bytes - t->length;
    va_list args;
    int written;

    va_start(args, format);
    written = vsnprintf(t->bytes + t->length, room, format, args);
    va_end(args);
    if (written > 0)
        t->length += (size_t) written < room ? (size_t) written : room - 1;
}

static void append_steps(struct text *t, const mo_builder *b, const int *path,
                         int count)
{
    for (int i = 0; i < count; i++) {
        const mo_edge *edge = &b->edges[path[i]];
        const char *name = b->ops[edge->to].name;

        append(t, " -> %.*s", mo_builder_name_width(name), name);
        if (edge->line > 0)
            append(t, " (line %d)", edge->line);
    }
}

static mo_status tell(const mo_builder *b, const int *path, int length,
                      mo_error *err)
{
    const char *name = b->ops[b->edges[path[0]].from].name;
    struct text t = { "", 0 };

    append(&t, "the graph has a cycle: %.*s", mo_builder_name_width(name),
           name);
    if (length <= MAX_STEPS) {
        append_steps(&t, b, path, length);
    } else {
        append_steps(&t, b, path, HEAD_STEPS);
        append(&t, " -> ... %d more ...", length - HEAD_STEPS - TAIL_STEPS);
        append_steps(&t, b, path + length - TAIL_STEPS, TAIL_STEPS);
    }
    append(&t,
           length == 1 ? "; remove this edge" : "; remove one of these edges");
    return mo_fail_at(err, MO_E_INPUT, b->file, b->edges[path[0]].line, "%s",
                      t.bytes);
}

static bool allocate(struct search *s, mo_arena *arena)
{
    size_t n = s->b->n_ops, m = s->b->n_edges;

    s->via = mo_arena_array(arena, n, sizeof *s->via);
    s->queue = mo_arena_array(arena, n, sizeof *s->queue);
    s->out_start = mo_arena_array(arena, n + 1, sizeof *s->out_start);
    s->out_edges = mo_arena_array(arena, m, sizeof *s->out_edges);
    return s->via && s->queue && s->out_start && s->out_edges;
}

mo_status mo_build_cycle_error(const mo_builder *builder, const int *place,
                               mo_error *err)
{
    struct search s = { .b = builder, .place = place };
    mo_arena *arena = mo_arena_new();
    mo_status status;
    int length, closing;

    if (!arena || !allocate(&s, arena)) {
        mo_arena_free(arena);
        return mo_fail_memory(err);
    }
    mo_sort_edges_by_end(builder->edges, MO_EDGE_FROM, NULL,
                         (int) builder->n_edges, (int) builder->n_ops,
                         s.out_start, s.out_edges);
    closing = closing_edge(&s, slot_on_cycle(&s));
    length = trace(&s, closing, s.queue);
    status = tell(builder, s.queue, length, err);
    mo_arena_free(arena);
    return status;
}
