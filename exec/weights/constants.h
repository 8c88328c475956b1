/* SPDX-License-Identifier: Apache-2.0 */
/*
 * constants.h - the values of a graph's constants.
 *
 * Weights lie in files beside the graph ("file:offset:size:dtype:shape") and
 * are mapped, not read; small values stand in attributes; the rest follows from
 * other constants and is computed when somebody asks, once.  Where a graph
 * comes without its file, numbers that look random may take its place.
 */
#ifndef MO_EXEC_WEIGHTS_CONSTANTS_H
#define MO_EXEC_WEIGHTS_CONSTANTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "exec/tensor/dense_tensor.h"
#include "graph/graph.h"

typedef struct mo_weights_store mo_weights_store;

typedef struct mo_weights_options {
    const char *folder; /* of the graph: where its files are; NULL: here */
    bool random;        /* make weights up where the file is missing */
    uint64_t seed;
} mo_weights_options;

/* Borrows graph; nothing is opened yet. */
mo_status mo_weights_new(const mo_graph *graph,
                         const mo_weights_options *options,
                         mo_weights_store **constants, mo_error *err);
void mo_weights_free(mo_weights_store *constants);

/* Output port of constant id (an id from n_ops on), which lives as long as
 * constants; not to be changed.  Errors name the constant and the file: it is
 * missing, shorter than the offset and size say, or of another size than type
 * and shape need. */
mo_status mo_weights_get(mo_weights_store *constants, int id, int port,
                         const mo_tensor_dense **value, mo_error *err);

/* What type and shape it has, without looking at its value. */
mo_status mo_weights_get_desc(const mo_weights_store *constants, int id,
                              int port, mo_tensor_desc *desc, mo_error *err);

/* A tensor of its own for an op whose weights the graph only hints at (attrs
 * "weights", "values": moirai-graph(5)), made up by seed, op and port. */
mo_status mo_weights_synthesize(mo_weights_store *constants, int op, int port,
                                const mo_tensor_desc *desc,
                                const mo_tensor_dense **value, mo_error *err);

/* A digest of what the files of weights hold, by samples of them: for ranks
 * that must all have the same.  Opens all of them. */
uint64_t mo_weights_fingerprint(mo_weights_store *constants);

/* Bytes mapped from files or computed so far, for reports. */
int64_t mo_weights_bytes(const mo_weights_store *constants);

#endif
