/* SPDX-License-Identifier: Apache-2.0 */
/*
 * build.h - makes a graph out of ops and edges that come in any order.
 *
 * A reader names ops as it meets them, in nodes or in edges, and finishes; the
 * builder finds what was named and never defined, what was defined twice, and
 * what runs in a circle, and numbers everything in its final order.
 *
 * While building, an op is known by its slot, a number in order of first sight.
 */
#ifndef MO_GRAPH_BUILD_H
#define MO_GRAPH_BUILD_H

#include <stdbool.h>
#include <stddef.h>

#include "graph/graph.h"

/* More than this is refused with MO_E_LIMIT. */
enum { MO_MAX_OPS = 50000000, MO_MAX_EDGES = 200000000 };

typedef struct mo_builder mo_builder;

/* file is what errors will name; it may be NULL. */
mo_status mo_builder_new(const char *file, mo_builder **builder, mo_error *err);
void mo_builder_free(mo_builder *builder);

/* A text that lives as long as the graph; equal texts are the same pointer. */
mo_status mo_builder_text(mo_builder *builder, const char *text, size_t length,
                          const char **kept, mo_error *err);

/* The same for a text that no other will equal: it is not looked for. */
mo_status mo_builder_own_text(mo_builder *builder, const char *text,
                              size_t length, const char **kept, mo_error *err);

/* The slot of the op of that name, whether it was defined yet or not.  line is
 * where it was mentioned, for the error when it never is. */
mo_status mo_builder_slot(mo_builder *builder, const char *name, size_t length,
                          int line, int *slot, mo_error *err);

/* A new slot for an op whose name is no other's, in builders that never ask for
 * a slot by its name: it is not looked for and cannot be found. */
mo_status mo_builder_new_slot(mo_builder *builder, const char *name,
                              size_t length, int line, int *slot,
                              mo_error *err);

/* The slot of the op of that name, or -1 when nobody mentioned it. */
int mo_builder_find(const mo_builder *builder, const char *name, size_t length);

/* Says that the op in slot exists.  *op is cleared (numbers unknown,
 * memory_bytes MO_UNKNOWN, which finish turns into weights + workspace) and may
 * be filled in until the next call on this builder; its texts must come from
 * mo_builder_text.  Twice the same slot is an error that names both lines. */
mo_status mo_builder_define(mo_builder *builder, int slot, int line, mo_op **op,
                            mo_error *err);

/* Says that the op in slot is a constant.  It may depend on constants only;
 * finish refuses anything else. */
void mo_builder_constant(mo_builder *builder, int slot);

/* The op in slot again, to fill in more. */
mo_op *mo_builder_op(mo_builder *builder, int slot);

typedef struct mo_builder_edge {
    int from, to;           /* slots */
    int src_port, dst_port; /* a number, MO_PORT_NONE, or mo_builder_port */
    const char *tensor;     /* from mo_builder_text, or NULL */
    int64_t bytes; /* or MO_UNKNOWN: then the producer's output_bytes */
    int line;
} mo_builder_edge;

/* Adds an edge; *number is what mo_builder_comm wants, and number may be NULL.
 * Parallel edges are kept. */
mo_status mo_builder_add_edge(mo_builder *builder, const mo_builder_edge *edge,
                              int *number, mo_error *err);

/* The port number for a port that a file calls by a name. */
mo_status mo_builder_port(mo_builder *builder, const char *name, size_t length,
                          int *port, mo_error *err);

/* Columns of measurements, by key; the same key is the same column. */
mo_status mo_builder_time_column(mo_builder *builder, const char *key,
                                 size_t length, int *column, mo_error *err);
mo_status mo_builder_comm_column(mo_builder *builder, const char *key,
                                 size_t length, int *column, mo_error *err);
void mo_builder_time_fallback(mo_builder *builder, int column, double us);
void mo_builder_comm_fallback(mo_builder *builder, int column, double us);

/* A measurement of an op's slot, or of an edge's number.  The same column
 * twice for one op is the caller's to refuse: the last one wins. */
mo_status mo_builder_time(mo_builder *builder, int slot, int column, double us,
                          mo_error *err);
mo_status mo_builder_comm(mo_builder *builder, int edge, int column, double us,
                          mo_error *err);

/* What the graph is called; a kept text or NULL. */
void mo_builder_name(mo_builder *builder, const char *name);

/* Asks finish to tell what became of the slots: ids, one int for each, is
 * filled with the ids of their ops in the graph. */
void mo_builder_want_ids(mo_builder *builder, int *ids);

/*
 * Makes the graph.  Takes O((ops + edges) log ops) time.  The builder is empty
 * afterwards and only good for mo_builder_free; the graph is the caller's.
 *
 * Errors: an op that edges mention and nobody defined; a constant that depends
 * on an op; a cycle, told as a path of names with the lines of its edges.
 */
mo_status mo_builder_finish(mo_builder *builder, mo_graph **graph,
                            mo_error *err);

#endif
