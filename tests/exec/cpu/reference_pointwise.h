/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reference_pointwise.h - reference interpreter of pointwise programs, one
 * element and one step at a time, and a generator of random programs.
 */
#ifndef MO_TESTS_EXEC_CPU_REFERENCE_POINTWISE_H
#define MO_TESTS_EXEC_CPU_REFERENCE_POINTWISE_H

#include "base/random.h"
#include "exec/tensor/dense_tensor.h"
#include "exec/op/point_program.h"

/* All of the result, from whole operands, like desc. */
void slow_point_run(const mo_point_program *point, const mo_tensor_desc *desc,
                    const void *const *operands, mo_tensor_dense *out);

/* The result of one step on scalars, by its definition, in doubles: of steps
 * that make reals of reals, integers of reals, integers of integers.  The test
 * fails where the reference has no such step. */
double slow_real(const mo_point_step *step, double a, double b);
int64_t slow_test(mo_point_op op, double a, double b);
int64_t slow_integer(const mo_point_step *step, int64_t a, int64_t b);

/* Where the element at index is. */
int64_t slow_place(const mo_point_access *access, const mo_shape *shape,
                   const int64_t *index);

/* A random shape of up to most elements, never empty. */
mo_shape random_extents(mo_random *random, int64_t most);

/* A random access to some tensor: dimensions repeated, in any order, with gaps;
 * *elements: how many the tensor has. */
mo_point_access random_access(mo_random *random, const mo_shape *shape,
                              int64_t *elements);
/* One that meets every element once, densely. */
mo_point_access random_layout(mo_random *random, const mo_shape *shape);

/* Steps that round alike however they are done, on the operands that the
 * program has; its result becomes one of type elem. */
void random_steps(mo_random *random, mo_point_program *point, mo_elem elem);

#endif
