/* SPDX-License-Identifier: Apache-2.0 */
/*
 * constants_parts.h - what the files about constants share.
 */
#ifndef MO_EXEC_WEIGHTS_CONSTANTS_INTERNAL_H
#define MO_EXEC_WEIGHTS_CONSTANTS_INTERNAL_H

#include "base/arena.h"
#include "exec/weights/constants.h"
#include "exec/tensor/mmap_file.h"

/* The outputs of one constant, or a tensor made up for one port of an op. */
typedef struct mo_weights_constant {
    mo_tensor_dense *values; /* by port; NULL: nobody asked yet */
    int n;
} mo_weights_constant;

typedef struct mo_weights_synthetic {
    mo_tensor_dense value;
    int port;
    struct mo_weights_synthetic *next; /* of the same op */
} mo_weights_synthetic;

typedef struct mo_weights_file {
    const char *name; /* as the graph writes it */
    char *path;       /* where it is */
    mo_mmap_file mapped;
    bool missing;
} mo_weights_file;

struct mo_weights_store {
    const mo_graph *graph;
    mo_weights_options options;
    mo_weights_constant *constants; /* by id, from n_ops on */
    mo_weights_file *files;
    size_t n_files, files_room;
    bool *unknown; /* by constant: it follows from a file that is missing;
                      NULL as long as nobody asked, or nothing is made up */
    mo_weights_synthetic **made; /* by op; NULL as long as nothing was */
    mo_arena *arena;             /* of the tensors' descriptions */
    int64_t bytes;
    int64_t room; /* for values that are made up, in bytes */
};

/* The value in a file that op's weights name.  *missing, and no value: there is
 * no such file, and values may be made up. */
mo_status mo_weights_from_file(mo_weights_store *c, const mo_op *op,
                               const mo_tensor_desc *desc,
                               mo_tensor_dense *value, bool *missing,
                               mo_error *err);
void mo_weights_close_files(mo_weights_store *c);

/* Is the file missing that its weights name?  Opens it. */
mo_status mo_weights_file_is_missing(mo_weights_store *c, const mo_op *op,
                                     bool *missing, mo_error *err);

/* What weights say the stored tensor is like. */
mo_status mo_weights_stored_desc(const mo_op *op, mo_tensor_desc *desc,
                                 mo_error *err);

/* Fills a tensor that is there with numbers as attributes write them:
 * "1,0.5,-2"; one number fills all of it. */
mo_status mo_weights_parse_numbers(const char *text, size_t length,
                                   mo_tensor_dense *value, mo_error *err);

/* Fills it with what is told for that port of op: "1:0,2,1", "1:causal".
 * *told: something is. */
mo_status mo_weights_parse_port_values(const mo_op *op, int port,
                                       mo_tensor_dense *value, bool *told,
                                       mo_error *err);

/* A tensor of zeros that will be made up, where the machine has the memory: a
 * graph without weights may be of any size. */
mo_status mo_weights_alloc_synthetic(mo_weights_store *c,
                                     const mo_tensor_desc *desc,
                                     mo_tensor_dense *value, mo_error *err);

/* Fills a tensor of zeros so that a network of such weights computes neither
 * infinities nor anything that is not a number. */
void mo_weights_fill_random(mo_tensor_dense *value, uint64_t seed);

/* Fills integers of a constant whose file is missing with what its readers'
 * shapes tell about it: axes, orders, target shapes.  False: nothing does. */
bool mo_weights_infer_from_shapes(const mo_graph *g, int id,
                                  mo_tensor_dense *value);

#endif
