/* SPDX-License-Identifier: Apache-2.0 */
/*
 * constants.h - the weight store: the values of a graph's constants.
 *
 * Weights lie in files beside the graph ("file:offset:size:dtype:shape") and
 * are memory-mapped; small values are literals in attributes; all others are
 * computed from other constants by constant folding, lazily and once. Where a
 * graph comes without its file, synthetic random values may replace them.
 *
 * Not thread-safe: one thread at a time may call these functions on one store.
 * Values it has returned may be read by any thread.
 */
#ifndef MO_EXEC_WEIGHTS_CONSTANTS_H
#define MO_EXEC_WEIGHTS_CONSTANTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "exec/tensor/dense_tensor.h"
#include "graph/graph.h"

typedef struct mo_weights_store mo_weights_store;

/* A weight file that is not beside the graph: bytes within another file. */
typedef struct mo_weights_source {
    const char *name; /* as in the graph */
    const char *path;
    int64_t offset, size; /* the bytes there; size -1: the whole file */
} mo_weights_source;

typedef struct mo_weights_options {
    const char *folder; /* of the graph: where its files are; NULL: the working
                           folder */
    bool random;        /* synthesize weights where the file is missing */
    uint64_t seed;
    const mo_weights_source *sources; /* for the files that are not there */
    size_t n_sources;
} mo_weights_options;

/* Allocates a store, which borrows graph, folder and sources; opens no file
 * yet. The caller frees it with mo_weights_free(), which accepts NULL. */
mo_status mo_weights_new(const mo_graph *graph,
                         const mo_weights_options *options,
                         mo_weights_store **constants, mo_error *err);
void mo_weights_free(mo_weights_store *constants);

/* *value becomes output port of constant id (an id from n_ops on). The store
 * owns it; it stays valid until mo_weights_free() and must not be changed.
 * Errors name the constant and the file: it is missing, shorter than offset
 * and size require, or of another size than type and shape need. */
mo_status mo_weights_get(mo_weights_store *constants, int id, int port,
                         const mo_tensor_dense **value, mo_error *err);

/* Returns type and shape of an output without computing its value. */
mo_status mo_weights_get_desc(const mo_weights_store *constants, int id,
                              int port, mo_tensor_desc *desc, mo_error *err);

/* Synthesizes a tensor for an op whose weights the graph only hints at (attrs
 * "weights", "values": moirai-graph(5)), seeded by seed, op and port. The
 * store owns *value; a second call returns the same one. */
mo_status mo_weights_synthesize(mo_weights_store *constants, int op, int port,
                                const mo_tensor_desc *desc,
                                const mo_tensor_dense **value, mo_error *err);

/* Returns whether weights that are missing may be synthesized. */
bool mo_weights_may_synthesize(const mo_weights_store *constants);

/* Returns a digest of samples of all weight files, by which ranks check that
 * they have the same. Opens every file; one that cannot be opened is left
 * out. */
uint64_t mo_weights_fingerprint(mo_weights_store *constants);

/* Returns the bytes of random values among the weights so far; *tensors: their
 * number. */
int64_t mo_weights_random_bytes(const mo_weights_store *constants,
                                int *tensors);

/* Returns the bytes mapped or computed so far. */
int64_t mo_weights_bytes(const mo_weights_store *constants);

#endif
