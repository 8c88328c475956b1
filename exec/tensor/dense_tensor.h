/*
 * dense.h - tensors in the memory of this process, row by row.
 */
#ifndef MO_EXEC_TENSOR_DENSE_TENSOR_H
#define MO_EXEC_TENSOR_DENSE_TENSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "exec/tensor/elem.h"
#include "ingest/shape.h"

/* What a tensor is like. */
typedef struct mo_desc {
    mo_elem elem;
    mo_shape shape; /* static */
} mo_desc;

int64_t mo_desc_elements(const mo_desc *desc);
int64_t mo_desc_bytes(const mo_desc *desc);
bool mo_desc_equal(const mo_desc *a, const mo_desc *b);

/* "f32[1,64]", for errors; returns text. */
enum { MO_DESC_TEXT_SIZE = MO_SHAPE_TEXT_SIZE + 16 };
const char *mo_desc_say(const mo_desc *desc, char text[MO_DESC_TEXT_SIZE]);

typedef struct mo_dense {
    mo_desc desc;
    void *data;
    bool own; /* data goes with mo_dense_clear */
} mo_dense;

/* A zeroed tensor that owns its data, aligned to 64 bytes; clear is harmless on
 * zeros. */
mo_status mo_dense_new(const mo_desc *desc, mo_dense *dense, mo_error *err);
void mo_dense_clear(mo_dense *dense);

/* Fills it with numbers that look random and depend on nothing but seed: reals
 * evenly from -scale to scale, integers from 0 to below - 1, booleans. */
void mo_dense_random(mo_dense *dense, uint64_t seed, double scale,
                     int64_t below);

/* Element i as a number, whatever the type; and integers exactly. */
double mo_dense_at(const mo_dense *dense, int64_t i);
int64_t mo_dense_int(const mo_dense *dense, int64_t i);

/* Stores a number, rounded to a real type; or an integer, of which an integer
 * type keeps as many bits as it has. */
void mo_dense_put(mo_dense *dense, int64_t i, double x);
void mo_dense_put_int(mo_dense *dense, int64_t i, int64_t x);

#endif
