/* SPDX-License-Identifier: Apache-2.0 */
/*
 * build_internal.h - the state of a graph builder, and the steps that turn it
 * into a graph.
 *
 * Private to graph/build.  Ops and edges are collected (build.c) in the arrays
 * that the graph will own, and mo_builder_finish (finish.c) permutes them into
 * their final order in place: a large graph never exists twice in memory.
 */
#ifndef MO_GRAPH_BUILD_BUILD_INTERNAL_H
#define MO_GRAPH_BUILD_BUILD_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/intern.h"
#include "graph/build.h"
#include "graph/graph.h"

/* The output that an edge leaves.  Most edges name none, and those that do
 * mostly name the same one as the edge before them: they share a record. */
typedef struct mo_builder_output {
    const char *key; /* or NULL */
    int port;        /* or MO_PORT_NONE */
} mo_builder_output;

/* A measurement of an op (by slot) or of an edge (by number). */
typedef struct mo_builder_sample {
    int owner, column;
    double us;
} mo_builder_sample;

typedef struct mo_builder_samples {
    mo_intern *keys;      /* of the columns */
    double *fallbacks_us; /* of the columns */
    size_t n_fallbacks, fallbacks_room;
    mo_builder_sample *items;
    size_t n_items, items_room;
} mo_builder_samples;

struct mo_builder {
    mo_arena *arena; /* becomes the graph's */
    const char *file, *name;
    mo_intern *names; /* of ops: an op's number here is its slot */
    mo_intern *texts, *ports;

    mo_op *ops; /* by slot; an op without a name is not defined yet,
                   and its line is that of its first mention */
    size_t n_ops, ops_room;
    bool *constants; /* by slot */
    size_t constants_room;

    mo_edge *edges; /* ends are slots; tensor is an index of outputs, or
                       MO_UNKNOWN where the edge names no output */
    size_t n_edges, edges_room;
    mo_builder_output *outputs;
    size_t n_outputs, outputs_room;
    uint64_t *marks;    /* by edge number: hash of its measured times, which
                           orders edges that differ in nothing else; NULL
                           without such times */
    mo_tensor *tensors; /* made by mo_builder_finish */
    size_t n_tensors, tensors_room;

    mo_builder_samples times, comms;
    int *ids; /* the caller's array for the ids of the slots, or NULL */
};

/* The number of leading bytes of name that a message shows (at most 60, never
 * part of a UTF-8 character): names may be megabytes long. */
int mo_builder_name_width(const char *name);

/* Fills by_rank with the numbers of all texts of the table in strcmp order:
 * by_rank[0] is the number of the smallest.  The caller allocates
 * mo_intern_count(texts) ints.  Returns MO_OK or MO_E_MEMORY. */
mo_status mo_intern_rank_texts(const mo_intern *texts, int *by_rank,
                               mo_error *err);

/*
 * The steps of mo_builder_finish.  Each fills the part of the graph it is named
 * after, in memory of the graph's arena, and returns MO_OK or MO_E_MEMORY.
 *
 * Topological order: place[slot] = the id of the op in slot, the smallest name
 * first among the ops that are ready; ops first, then constants.  All slots
 * must be defined, and no constant may depend on an op.  A cycle is
 * MO_E_INPUT (mo_build_cycle_error).
 */
mo_status mo_build_topo_order(const mo_builder *builder, int *place,
                              mo_error *err);

/* Fills err with a shortest cycle through one of the slots whose place is -1:
 * those that topological sorting left over, of which there must be some.  The
 * message names the ops along it and the lines of its edges.  Returns
 * MO_E_INPUT, or MO_E_MEMORY. */
mo_status mo_build_cycle_error(const mo_builder *builder, const int *place,
                               mo_error *err);

/* Measured times of ops.  place[slot] is the op's id. */
mo_status mo_build_times(const mo_builder *builder, mo_graph *g,
                         const int *place, mo_error *err);

/* Hashes of the measured times of edges, for the order of parallel edges. */
mo_status mo_build_marks(mo_builder *builder, mo_error *err);

/* The tensors.  Ends of edges are ids by now, and numbers holds edge numbers,
 * grouped by producer as in g->out_start; those that leave ops are brought into
 * their final order. */
mo_status mo_build_tensors(mo_builder *builder, mo_graph *g, int *numbers,
                           mo_error *err);

/* Measured times of edges.  place[number] is the edge's final number; from
 * g->n_edges on these are feeds, whose times are dropped, since constants are
 * not placed. */
mo_status mo_build_comms(const mo_builder *builder, mo_graph *g,
                         const int *place, mo_error *err);

#endif
