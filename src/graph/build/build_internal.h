/* SPDX-License-Identifier: Apache-2.0 */
/*
 * builder.h - what a builder holds while it collects.
 *
 * Private to the files that collect (build.c) and that make a graph out of it
 * (finish.c and what it calls).  Ops and edges are collected in the very
 * arrays the graph will own, and put into their final order in place: a large
 * graph never exists twice.
 */
#ifndef MO_GRAPH_BUILD_BUILD_INTERNAL_H
#define MO_GRAPH_BUILD_BUILD_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/intern.h"
#include "graph/build.h"
#include "graph/graph.h"

/* What an edge says about the output it takes.  Most edges say nothing, and
 * those that do mostly say the same as the one before them: they share it. */
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

    mo_op *ops; /* by slot; one without a name is not defined yet,
                   and its line is where it was first mentioned */
    size_t n_ops, ops_room;
    bool *constants; /* by slot */
    size_t constants_room;

    mo_edge *edges; /* ends are slots; tensor is an index of outputs, or
                       MO_UNKNOWN where the edge says nothing */
    size_t n_edges, edges_room;
    mo_builder_output *outputs;
    size_t n_outputs, outputs_room;
    uint64_t *marks;    /* by edge number: what tells apart edges that differ
                           in measured times only; NULL without such times */
    mo_tensor *tensors; /* made while finishing */
    size_t n_tensors, tensors_room;

    mo_builder_samples times, comms;
    int *ids; /* where the caller wants the ids of the slots, or NULL */
};

/* How many bytes of a name a message shows: names may be megabytes long. */
int mo_builder_name_width(const char *name);

#endif
