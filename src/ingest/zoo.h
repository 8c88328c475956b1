/* SPDX-License-Identifier: Apache-2.0 */
/*
 * zoo.h - the paper's networks, built instead of read.
 *
 * A model is a stack of layers with a hidden size and a number of heads; each
 * head's operators stand on their own, as in the paper, so that a layer is
 * 11 + 12 heads operators.
 */
#ifndef MO_INGEST_ZOO_H
#define MO_INGEST_ZOO_H

#include "base/error.h"
#include "graph/graph.h"

typedef struct mo_zoo_model {
    const char *name;  /* "gpt3-330m" */
    const char *title; /* "GPT-3 330M" */
    int layers, hidden, heads;
    int ops; /* what the paper's table counts */
} mo_zoo_model;

/* The paper's eleven; ends with a NULL name. */
extern const mo_zoo_model mo_zoo_models[];

typedef struct mo_zoo_config {
    const char *name; /* of the graph */
    int layers, hidden, heads;
    int tokens, batch;
    const char *dtype; /* "f32", "f16", "bf16" */
} mo_zoo_config;

/* NULL when there is no such model. */
const mo_zoo_model *mo_zoo_find(const char *name);

/* Builds it.  hidden must be a multiple of heads; all numbers positive; at most
 * MO_MAX_OPS operators, no tensor above a terabyte.  Other numbers are
 * MO_E_USAGE: they came from a command line.
 *
 * There are no constants and no parameter op, so that the count is exact: an op
 * says in its attrs what constants it has and that it reads the network's
 * input; moirai-graph(5) tells how. */
mo_status mo_zoo_build(const mo_zoo_config *config, mo_graph **graph,
                       mo_error *err);

#endif
