/* SPDX-License-Identifier: Apache-2.0 */
/*
 * op_case.h - one operator with values for all its inputs, to be evaluated.
 *
 *     op_case c = op_case_of("Transpose", NULL);
 *     op_case_data(&c, MO_ELEM_F32, &shape, seed);
 *     op_case_list(&c, order, 3);
 *     op_case_makes(&c, MO_ELEM_F32, &turned);
 *     op_case_run(&c);                 // results in c.result
 *     op_case_clear(&c);
 */
#ifndef MO_TESTS_EXEC_OP_OP_CASE_H
#define MO_TESTS_EXEC_OP_OP_CASE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/random.h"
#include "exec/tensor/dense_tensor.h"

enum { OP_CASE_PORTS = 8 };

typedef struct op_case {
    const char *type, *attrs;
    int n_in, n_out;
    mo_tensor_dense value[OP_CASE_PORTS];
    mo_tensor_desc out[OP_CASE_PORTS];
    mo_tensor_dense result[OP_CASE_PORTS];
} op_case;

/* Returns a case without inputs and outputs; both texts are borrowed. The
 * caller frees its tensors with op_case_clear(). */
op_case op_case_of(const char *type, const char *attrs);

/* Append an input: random, a list of i64, one number. Returned tensors are
 * owned by the case. */
mo_tensor_dense *op_case_data(op_case *c, mo_elem elem, const mo_shape *shape,
                              uint64_t seed);
/* Indices within size, some of them counted from the end. */
mo_tensor_dense *op_case_indices(op_case *c, mo_random *random, mo_elem elem,
                                 const mo_shape *shape, int64_t size);
void op_case_list(op_case *c, const int64_t *values, int n);
void op_case_number(op_case *c, mo_elem elem, double value);

/* Appends an output. */
void op_case_makes(op_case *c, mo_elem elem, const mo_shape *shape);

/* Evaluates it on the tested backend (tests/exec/support/run_calls.h); the
 * test fails unless it can be run, op_case_try returns the status. */
void op_case_run(op_case *c);
mo_status op_case_try(op_case *c, mo_error *err);
void op_case_clear(op_case *c);

/* Random shapes, of few elements; some are empty. */
mo_shape random_shape(mo_random *random, int min_rank, int max_rank);

/* The coordinates of element i, and the element at coordinates. */
void coordinates_of(const mo_shape *shape, int64_t i, int64_t *at);
int64_t element_at(const mo_shape *shape, const int64_t *at);

/* Returns true when two elements have the same bytes. */
bool same_element(const mo_tensor_dense *a, int64_t i, const mo_tensor_dense *b,
                  int64_t k);

#endif
