/* SPDX-License-Identifier: Apache-2.0 */
/*
 * zoo.h - generator of the paper's transformer networks.
 *
 * A model is a stack of layers with a hidden size and a number of heads; each
 * head has its own operators, as in the paper, so that a layer is 11 + 12
 * heads operators.
 */
#ifndef MO_INGEST_ZOO_H
#define MO_INGEST_ZOO_H

#include "base/error.h"
#include "graph/graph.h"

typedef struct mo_zoo_model {
    const char *name;  /* "gpt3-330m" */
    const char *title; /* "GPT-3 330M" */
    int layers, hidden, heads;
    int ops; /* operators, by the paper's table */
} mo_zoo_model;

/* The paper's eleven; ends with a NULL name. */
extern const mo_zoo_model mo_zoo_models[];

typedef struct mo_zoo_config {
    const char *name; /* of the graph */
    int layers, hidden, heads;
    int tokens, batch;
    const char *dtype; /* "f32", "f16", "bf16" */
} mo_zoo_config;

/* Returns a row of mo_zoo_models; NULL when there is no such model. */
const mo_zoo_model *mo_zoo_find(const char *name);

/* Builds the graph of a model; the caller frees *graph with mo_graph_free().
 * hidden must be a multiple of heads; all numbers positive; at most MO_MAX_OPS
 * operators, no tensor above a terabyte. Other numbers are MO_E_USAGE: they
 * came from a command line.
 *
 * There are no constants and no parameter op, so that the count is exact: the
 * attrs of an op list its constants and whether it reads the network's input
 * (moirai-graph(5)). */
mo_status mo_zoo_build(const mo_zoo_config *config, mo_graph **graph,
                       mo_error *err);

#endif
