/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reference_pointwise.h - reference interpreter of pointwise programs, one
 * element and one step at a time, and random programs to compare with it.
 */
#ifndef MO_TESTS_EXEC_CPU_REFERENCE_POINTWISE_H
#define MO_TESTS_EXEC_CPU_REFERENCE_POINTWISE_H

#include "base/random.h"
#include "exec/tensor/dense_tensor.h"
#include "exec/op/point_program.h"

/* Computes the whole result, of type and shape desc, from whole operands. */
void slow_point_run(const mo_point_program *point, const mo_tensor_desc *desc,
                    const void *const *operands, mo_tensor_dense *out);

/* Returns the result of one step on scalars by its definition, in double: of
 * steps from reals to reals, reals to integers and integers to integers. The
 * test fails if the reference has no such step. */
double slow_real(const mo_point_step *step, double a, double b);
int64_t slow_test(mo_point_op op, double a, double b);
int64_t slow_integer(const mo_point_step *step, int64_t a, int64_t b);

/* Returns the offset of the element at index. */
int64_t slow_place(const mo_point_access *access, const mo_shape *shape,
                   const int64_t *index);

/* Returns a random shape of up to most elements, never empty. */
mo_shape random_extents(mo_random *random, int64_t most);

/* Returns a random access to some tensor: broadcast dimensions, any order,
 * with gaps; *elements: the size of the tensor. */
mo_point_access random_access(mo_random *random, const mo_shape *shape,
                              int64_t *elements);
/* Returns a dense access in which every element occurs once. */
mo_point_access random_layout(mo_random *random, const mo_shape *shape);

/* Appends steps that every implementation rounds alike, on the operands of the
 * program; its result gets type elem. */
void random_steps(mo_random *random, mo_point_program *point, mo_elem elem);

#endif
