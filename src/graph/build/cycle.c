/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Extraction of a shortest cycle for the error message. Every op that
 * topological sorting left over has a predecessor that was left over, too.
 * Following predecessors from any of them must therefore reach some op twice;
 * that op lies on a cycle, and a breadth-first search from it finds the
 * shortest way back.
 */
#include "graph/build/build_internal.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "graph/build/sort.h"

enum { MAX_STEPS = 8, HEAD_STEPS = 4, TAIL_STEPS = 3 };

struct search {
    const mo_builder *b;
    const int *place;
    int *pred_edge; /* slot: the edge by which it was reached, or -1 */
    int *queue;
    int *out_start, *out_edges;
};

static void clear_predecessors(struct search *s)
{
    for (size_t i = 0; i < s->b->n_ops; i++)
        s->pred_edge[i] = -1;
}

static int slot_on_cycle(struct search *s)
{
    const mo_edge *edges = s->b->edges;
    int slot = 0;

    clear_predecessors(s);
    for (int e = (int) s->b->n_edges - 1; e >= 0; e--)
        if (s->place[edges[e].from] < 0 && s->place[edges[e].to] < 0 &&
            s->b->constants[edges[e].from] == s->b->constants[edges[e].to])
            s->pred_edge[edges[e].to] = e;
    while (s->place[slot] >= 0)
        slot++;
    while (s->pred_edge[slot] >= 0) {
        int before = edges[s->pred_edge[slot]].from;
        s->pred_edge[slot] = -1; /* visited */
        slot = before;
    }
    return slot;
}

/* Breadth-first search from slot: fills pred_edge along shortest paths and
 * returns the edge that closes the first, shortest, cycle. Paths into sorted
 * ops are dead ends. */
static int closing_edge(struct search *s, int slot)
{
    int head = 0, tail = 0;

    clear_predecessors(s);
    s->queue[tail++] = slot;
    for (;;) {
        int at = s->queue[head++];
        for (int i = s->out_start[at]; i < s->out_start[at + 1]; i++) {
            int e = s->out_edges[i], to = s->b->edges[e].to;
            if (to == slot)
                return e;
            if (s->pred_edge[to] < 0) {
                s->pred_edge[to] = e;
                s->queue[tail++] = to;
            }
        }
    }
}

struct text {
    char bytes[MO_ERROR_TEXT_SIZE];
    size_t length;
};

static void MO_PRINTF(2, 3) append_text(struct text *t, const char *format, ...)
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

        append_text(t, " -> %.*s", mo_builder_name_width(name), name);
        if (edge->line > 0)
            append_text(t, " (line %d)", edge->line);
    }
}

static mo_status report_cycle(const mo_builder *b, const int *path, int length,
                              mo_error *err)
{
    const char *name = b->ops[b->edges[path[0]].from].name;
    struct text t = { "", 0 };

    append_text(&t, "the graph has a cycle: %.*s", mo_builder_name_width(name),
                name);
    if (length <= MAX_STEPS) {
        append_steps(&t, b, path, length);
    } else {
        append_steps(&t, b, path, HEAD_STEPS);
        append_text(&t, " -> ... %d more ...",
                    length - HEAD_STEPS - TAIL_STEPS);
        append_steps(&t, b, path + length - TAIL_STEPS, TAIL_STEPS);
    }
    append_text(&t, length == 1 ? "; remove this edge"
                                : "; remove one of these edges");
    return mo_fail_at(err, MO_E_INPUT, b->file, b->edges[path[0]].line, "%s",
                      t.bytes);
}

static bool allocate_search(struct search *s, mo_arena *arena)
{
    size_t n = s->b->n_ops, m = s->b->n_edges;

    s->pred_edge = mo_arena_array(arena, n, sizeof *s->pred_edge);
    s->queue = mo_arena_array(arena, n, sizeof *s->queue);
    s->out_start = mo_arena_array(arena, n + 1, sizeof *s->out_start);
    s->out_edges = mo_arena_array(arena, m, sizeof *s->out_edges);
    return s->pred_edge && s->queue && s->out_start && s->out_edges;
}

mo_status mo_build_cycle_error(const mo_builder *builder, const int *place,
                               mo_error *err)
{
    struct search s = { .b = builder, .place = place };
    mo_arena *arena = mo_arena_new();
    mo_status status;
    int length, closing;
    int at;

    if (!arena || !allocate_search(&s, arena)) {
        mo_arena_free(arena);
        return mo_fail_memory(err);
    }
    mo_sort_edges_by_end(builder->edges, MO_EDGE_FROM, NULL,
                         (int) builder->n_edges, (int) builder->n_ops,
                         s.out_start, s.out_edges);
    closing = closing_edge(&s, slot_on_cycle(&s));
    length = 1;
    at = closing;
    while (s.pred_edge[s.b->edges[at].from] >= 0) {
        at = s.pred_edge[s.b->edges[at].from];
        length++;
    }
    at = closing;
    for (int i = length - 1; i >= 0; i--) {
        s.queue[i] = at;
        at = s.pred_edge[s.b->edges[at].from];
    }
    status = report_cycle(builder, s.queue, length, err);
    mo_arena_free(arena);
    return status;
}
