/*
 * constants_parts.h - what the files about constants share.
 */
#ifndef MO_EXEC_WEIGHTS_CONSTANTS_INTERNAL_H
#define MO_EXEC_WEIGHTS_CONSTANTS_INTERNAL_H

#include "base/arena.h"
#include "exec/weights/constants.h"
#include "exec/tensor/mmap_file.h"

/* The outputs of one constant, or a tensor made up for one port of an op. */
typedef struct mo_constant {
    mo_dense *values; /* by port; NULL: nobody asked yet */
    int n;
} mo_constant;

typedef struct mo_made {
    mo_dense value;
    int port;
    struct mo_made *next; /* of the same op */
} mo_made;

typedef struct mo_weight_file {
    const char *name; /* as the graph writes it */
    char *path;       /* where it is */
    mo_mapped mapped;
    bool missing;
} mo_weight_file;

struct mo_constants {
    const mo_graph *graph;
    mo_constants_options options;
    mo_constant *constants; /* by id, from n_ops on */
    mo_weight_file *files;
    size_t n_files, files_room;
    bool *unknown;   /* by constant: it follows from a file that is missing;
                        NULL as long as nobody asked, or nothing is made up */
    mo_made **made;  /* by op; NULL as long as nothing was */
    mo_arena *arena; /* of the tensors' descriptions */
    int64_t bytes;
    int64_t room; /* for values that are made up, in bytes */
};

/* The value in a file that op's weights name.  *missing, and no value: there is
 * no such file, and values may be made up. */
mo_status mo_constants_from_file(mo_constants *c, const mo_op *op,
                                 const mo_desc *desc, mo_dense *value,
                                 bool *missing, mo_error *err);
void mo_constants_close_files(mo_constants *c);

/* Is the file missing that its weights name?  Opens it. */
mo_status mo_constants_is_missing(mo_constants *c, const mo_op *op,
                                  bool *missing, mo_error *err);

/* What weights say the stored tensor is like. */
mo_status mo_constants_stored(const mo_op *op, mo_desc *desc, mo_error *err);

/* Fills a tensor that is there with numbers as attributes write them:
 * "1,0.5,-2"; one number fills all of it. */
mo_status mo_constants_numbers(const char *text, size_t length, mo_dense *value,
                               mo_error *err);

/* Fills it with what is told for that port of op: "1:0,2,1", "1:causal".
 * *told: something is. */
mo_status mo_constants_told(const mo_op *op, int port, mo_dense *value,
                            bool *told, mo_error *err);

/* A tensor of zeros that will be made up, where the machine has the memory: a
 * graph without weights may be of any size. */
mo_status mo_constants_room(mo_constants *c, const mo_desc *desc,
                            mo_dense *value, mo_error *err);

/* Fills a tensor of zeros so that a network of such weights computes neither
 * infinities nor anything that is not a number. */
void mo_constants_random(mo_dense *value, uint64_t seed);

/* Fills integers of a constant whose file is missing with what its readers'
 * shapes tell about it: axes, orders, target shapes.  False: nothing does. */
bool mo_constants_guess(const mo_graph *g, int id, mo_dense *value);

#endif
