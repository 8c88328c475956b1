/* SPDX-License-Identifier: Apache-2.0 */
/*
 * constants.h - the weight store: the values of a graph's constants.
 *
 * Weights lie in files of the graph's folder ("file:offset:size:dtype:shape"),
 * or of other folders that the caller allows, and are memory-mapped; small
 * values are literals in attributes; all others are computed from other
 * constants by constant folding, lazily and once. Where a graph comes without
 * its file, synthetic random values may replace them.
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
#include "exec/weights/evaluate.h"
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
    const char *const *allowed; /* further folders with weights; links and ".."
                                   may lead there, to no other place */
    size_t n_allowed;
    int64_t memory_limit; /* of values that are not in files; 0: half of the
                             memory that is available, and for those that are
                             computed no more than 1 GiB and eight times the
                             files */
    const mo_weights_store *share; /* of another phase, or NULL: its files are
                                      not mapped again; it outlives the store */
    bool packed; /* the graph is of a bundle: no other file is its own */
} mo_weights_options;

/* Allocates a store, which borrows graph and options' members; opens no file
 * yet. The caller frees it with mo_weights_free(), which accepts NULL. */
mo_status mo_weights_new(const mo_graph *graph,
                         const mo_weights_options *options,
                         mo_weights_store **constants, mo_error *err);
void mo_weights_free(mo_weights_store *constants);

/*
 * Opens the weight file at path if it lies in the graph's folder or in another
 * one that options allow, or below. Succeeds with *fd, which the caller closes,
 * or with *outside, the resolved path of a file that lies elsewhere, which the
 * caller frees. MO_E_IO with errno ENOENT: there is no such file.
 */
mo_status mo_weights_open_allowed(const mo_weights_options *options,
                                  const char *path, int *fd, char **outside,
                                  mo_error *err);

/* Fails for such a file of op name, with the option that allows it. file and
 * line are the op's. */
mo_status mo_weights_fail_outside(const char *name, const char *outside,
                                  const char *file, int line, mo_error *err);

/* *value becomes output port of constant id (an id from n_ops on). The store
 * owns it; it stays valid until mo_weights_free() and must not be changed.
 * Errors name the constant and the file: it is missing, outside of the folders,
 * shorter than offset and size require, or of another size than type and shape
 * need. */
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

/* Returns what values that are computed from constants may take now, and
 * counts bytes of them. For constant folding outside of the store. */
mo_weights_limit mo_weights_computed_limit(const mo_weights_store *constants);
void mo_weights_add_computed(mo_weights_store *constants, int64_t bytes);

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

/* Returns the bytes of values that are held in memory: random or computed. */
int64_t mo_weights_memory_bytes(const mo_weights_store *constants);

#endif
