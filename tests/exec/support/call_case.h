/* SPDX-License-Identifier: Apache-2.0 */
/*
 * call_case.h - hand-written calls, run on the tested backend.
 *
 * Operands of a case are tensors it owns: call.in and call.out are numbered in
 * the order they are added.
 */
#ifndef MO_TESTS_EXEC_SUPPORT_CALL_CASE_H
#define MO_TESTS_EXEC_SUPPORT_CALL_CASE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/random.h"
#include "exec/backend/backend.h"
#include "exec/tensor/dense_tensor.h"
#include "exec/op/call.h"

enum { CASE_OPERANDS = 8 };

typedef struct call_case {
    mo_call call;
    int in_number[CASE_OPERANDS], out_number[CASE_OPERANDS];
    mo_tensor_dense in[CASE_OPERANDS], out[CASE_OPERANDS];
    mo_point_program after;
    unsigned constant; /* bit i: in[i] is passed as a constant */
    const char
        *micro_kernels; /* name of the micro-kernels, or NULL: the best */
    const char *block_kernels; /* the same for those of quantized weights */
} call_case;

void case_begin(call_case *c, mo_call_kind kind);
void case_end(call_case *c);

/* Adds an operand: random floats from -1 to 1, integers from 0 to 9. */
mo_tensor_dense *case_in(call_case *c, mo_elem elem, mo_shape shape,
                         uint64_t seed);
mo_tensor_dense *case_out(call_case *c, mo_elem elem, mo_shape shape);

mo_shape shape_of(int rank, ...); /* int64_t each */

/* Adds the epilogue relu(result + bias + other): bias has an element for each
 * index of dimension axis; other is as large as the result. channels_last:
 * layout of the result. Called when all other operands are there. */
void case_after(call_case *c, int axis, bool channels_last, uint64_t seed);

/* Returns the result of that epilogue for x, which is element of the result in
 * NCHW order. */
double case_after_of(const call_case *c, int64_t element, double x);

/* Runs it on the CPU with that many threads, or on the tested backend. */
void case_run(call_case *c, int threads);

/* On a unit of that backend; or several cases, prepared together. */
void case_run_on(call_case *c, const mo_backend *backend,
                 mo_backend_unit *unit);
void case_run_all(call_case *const *cases, int n, const mo_backend *backend,
                  mo_backend_unit *unit);

/* Runs with 1 to 4 threads: fails unless the bytes are the same. */
void case_run_threads(call_case *c);

/* Fails unless every element of out[0] (NCHW order) is near expected, relative
 * to the largest of them; prints seed. */
void case_check(const call_case *c, const double *expected, bool channels_last,
                uint64_t seed);

/* Returns the offset in a channels-last tensor of an element in NCHW order. */
int64_t last_place(const mo_shape *shape, int64_t element);

/* Returns the tolerance for results of that type. */
double tolerance_of(mo_elem elem);

#endif
