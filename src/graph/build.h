/* SPDX-License-Identifier: Apache-2.0 */
/*
 * build.h - graph builder: collects ops and edges in any order and makes a
 * graph of them.
 *
 * A reader names ops as they occur, in nodes or in edges, and calls
 * mo_builder_finish, which rejects ops that are named and never defined, ops
 * that are defined twice, and cycles, and numbers everything in its final
 * order.
 *
 * While building, an op is identified by its slot: its number in order of
 * first mention.
 */
#ifndef MO_GRAPH_BUILD_H
#define MO_GRAPH_BUILD_H

#include <stdbool.h>
#include <stddef.h>

#include "graph/graph.h"

/* Larger graphs fail with MO_E_LIMIT. */
enum { MO_MAX_OPS = 50000000, MO_MAX_EDGES = 200000000 };

typedef struct mo_builder mo_builder;

/* Allocates an empty builder; the caller frees it with mo_builder_free(),
 * which accepts NULL. file is copied: the name of the input in error messages,
 * or NULL. */
mo_status mo_builder_new(const char *file, mo_builder **builder, mo_error *err);
void mo_builder_free(mo_builder *builder);

/* Interns a text: *kept lives as long as the graph, and equal texts give the
 * same pointer. text is length bytes, not necessarily terminated; *kept is
 * terminated. */
mo_status mo_builder_text(mo_builder *builder, const char *text, size_t length,
                          const char **kept, mo_error *err);

/* Copies a text that no other text is expected to equal, without interning it.
 * *kept lives as long as the graph. */
mo_status mo_builder_copy_text(mo_builder *builder, const char *text,
                               size_t length, const char **kept, mo_error *err);

/* Sets *slot to the slot of the op of that name, a new one at its first
 * mention; the op may be defined or not. line is where it is mentioned, for
 * the error when it is never defined. */
mo_status mo_builder_slot(mo_builder *builder, const char *name, size_t length,
                          int line, int *slot, mo_error *err);

/* Sets *slot to a new slot, for builders in which names are known to be
 * unique: the name is not looked up, and mo_builder_find() does not find it. */
mo_status mo_builder_new_slot(mo_builder *builder, const char *name,
                              size_t length, int line, int *slot,
                              mo_error *err);

/* Returns the slot of the op of that name, or -1 when it was never
 * mentioned. */
int mo_builder_find(const mo_builder *builder, const char *name, size_t length);

/* Defines the op in slot. *op is cleared (numbers MO_UNKNOWN;
 * mo_builder_finish replaces an unknown memory_bytes by weights + workspace)
 * and may be filled in until the next call on this builder, which owns it; its
 * texts must come from mo_builder_text. A second definition of a slot is
 * MO_E_INPUT; the message names both lines. */
mo_status mo_builder_define(mo_builder *builder, int slot, int line, mo_op **op,
                            mo_error *err);

/* Marks the op in slot as a constant. It may depend on constants only;
 * mo_builder_finish rejects anything else. */
void mo_builder_mark_constant(mo_builder *builder, int slot);

/* Returns the op in slot, owned by the builder; valid until the next slot is
 * added. */
mo_op *mo_builder_op(mo_builder *builder, int slot);

typedef struct mo_builder_edge {
    int from, to;           /* slots */
    int src_port, dst_port; /* a number, MO_PORT_NONE, or mo_builder_port */
    const char *tensor;     /* from mo_builder_text, or NULL */
    int64_t bytes; /* or MO_UNKNOWN: then the producer's output_bytes */
    int line;
} mo_builder_edge;

/* Adds an edge. *number is its number for mo_builder_comm; number may be NULL.
 * Parallel edges are kept. */
mo_status mo_builder_add_edge(mo_builder *builder, const mo_builder_edge *edge,
                              int *number, mo_error *err);

/* Sets *port to the number of a port that the file identifies by a name. */
mo_status mo_builder_port(mo_builder *builder, const char *name, size_t length,
                          int *port, mo_error *err);

/* Columns of measurements. The same key gives the same column. */
mo_status mo_builder_time_column(mo_builder *builder, const char *key,
                                 size_t length, int *column, mo_error *err);
mo_status mo_builder_comm_column(mo_builder *builder, const char *key,
                                 size_t length, int *column, mo_error *err);
void mo_builder_time_fallback(mo_builder *builder, int column, double us);
void mo_builder_comm_fallback(mo_builder *builder, int column, double us);

/* Adds a measurement of an op (by slot) or of an edge (by number). Of several
 * for the same owner and column the last one counts; a caller that wants to
 * reject repeats checks for them itself. */
mo_status mo_builder_time(mo_builder *builder, int slot, int column, double us,
                          mo_error *err);
mo_status mo_builder_comm(mo_builder *builder, int edge, int column, double us,
                          mo_error *err);

/* Sets the name of the graph: NULL, or a text from mo_builder_text. */
void mo_builder_name(mo_builder *builder, const char *name);

/* Makes mo_builder_finish fill ids[slot] with the id of the op in each slot.
 * The caller allocates ids, one int per slot, and keeps it until then. */
void mo_builder_map_slots(mo_builder *builder, int *ids);

/*
 * Makes the graph in O((ops + edges) log ops) time. On success the caller owns
 * *graph and frees it with mo_graph_free(); the builder is empty and may only
 * be freed.
 *
 * Returns MO_E_INPUT for an op that edges mention and nothing defines, for a
 * constant that depends on an op, and for a cycle (the message lists the names
 * along it with the lines of its edges); MO_E_MEMORY when there is no memory.
 * *graph is set on success only.
 */
mo_status mo_builder_finish(mo_builder *builder, mo_graph **graph,
                            mo_error *err);

#endif
