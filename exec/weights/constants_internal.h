/* SPDX-License-Identifier: Apache-2.0 */
/*
 * constants_internal.h - the weight store's data, shared by its files.
 */
#ifndef MO_EXEC_WEIGHTS_CONSTANTS_INTERNAL_H
#define MO_EXEC_WEIGHTS_CONSTANTS_INTERNAL_H

#include "base/arena.h"
#include "exec/weights/constants.h"
#include "exec/tensor/mmap_file.h"

/* The outputs of one constant. */
typedef struct mo_weights_constant {
    mo_tensor_dense *values; /* by port; NULL: not computed yet */
    int n;
} mo_weights_constant;

typedef struct mo_weights_synthetic {
    mo_tensor_dense value;
    int port;
    struct mo_weights_synthetic *next; /* of the same op */
} mo_weights_synthetic;

typedef struct mo_weights_file {
    const char *name; /* as the graph spells it */
    char *path;       /* owned */
    mo_mmap_file mapped;
    bool missing, is_shared; /* shared: mapped is of another store */
} mo_weights_file;

struct mo_weights_store {
    const mo_graph *graph;
    mo_weights_options options;
    mo_weights_constant *constants; /* by id, from n_ops on */
    mo_weights_file *files;
    size_t n_files, files_room;
    bool *unknown; /* by constant: depends on a missing file; NULL until needed,
                      or without options.random */
    mo_weights_synthetic **made; /* by op; NULL while there are none */
    mo_arena *arena;             /* of the tensors' descriptions */
    int64_t random_bytes; /* of n_random tensors */
    int n_random;
    int64_t limit;    /* of values that are not in files */
    int64_t room;     /* bytes left for values that are not in files */
    int64_t computed; /* bytes of those that were computed from others */
};

/* Reads the value from the file that op->weights names; *value borrows the
 * mapping or owns a copy. *missing is set, and no value, when there is no such
 * file and values may be synthesized. */
mo_status mo_weights_from_file(mo_weights_store *c, const mo_op *op,
                               const mo_tensor_desc *desc,
                               mo_tensor_dense *value, bool *missing,
                               mo_error *err);

/* Unmaps all files and frees the table of files. */
void mo_weights_close_files(mo_weights_store *c);

/* Opens the file that op->weights names; *missing: there is none. */
mo_status mo_weights_file_is_missing(mo_weights_store *c, const mo_op *op,
                                     bool *missing, mo_error *err);

/* Parses type and shape of the stored tensor from op->weights. */
mo_status mo_weights_stored_desc(const mo_op *op, mo_tensor_desc *desc,
                                 mo_error *err);

/* Parses numbers as attributes write them ("1,0.5,-2") into an allocated
 * tensor; a single number fills all of it. */
mo_status mo_weights_parse_numbers(const char *text, size_t length,
                                   mo_tensor_dense *value, mo_error *err);

/* Fills the tensor with the hint in op's attributes for that port ("1:0,2,1",
 * "1:causal"). *found: there is one. */
mo_status mo_weights_parse_port_values(const mo_op *op, int port,
                                       mo_tensor_dense *value, bool *found,
                                       mo_error *err);

/* Allocates a zeroed tensor for synthetic values of op; fails when these exceed
 * the memory limit: a graph without weights may be of any size. */
mo_status mo_weights_alloc_synthetic(mo_weights_store *c, const mo_op *op,
                                     const mo_tensor_desc *desc,
                                     mo_tensor_dense *value, mo_error *err);

/* Fills as mo_weights_fill_random() does, and counts weights among the random
 * ones. */
void mo_weights_add_random(mo_weights_store *c, mo_tensor_dense *value,
                           uint64_t seed);

/* Random initialization: fills a zeroed tensor so that a network of such
 * weights computes neither infinities nor NaN. */
void mo_weights_fill_random(mo_tensor_dense *value, uint64_t seed);

/* Infers the integers of a constant without its file from the shapes of
 * the ops that read it: axes, permutations, target shapes. Returns false when
 * no consumer determines them. */
bool mo_weights_infer_from_shapes(const mo_graph *g, int id,
                                  mo_tensor_dense *value);
/* The same for an input of op for which there is no constant. */
bool mo_weights_infer_input(const mo_graph *g, int op, int port,
                            mo_tensor_dense *value);

#endif
