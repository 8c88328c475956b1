/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tensor_text.h - small tensors as texts: "f32[2,2] 1 -2.5 inf nan".
 */
#ifndef MO_TESTS_EXEC_OP_TENSOR_TEXT_H
#define MO_TESTS_EXEC_OP_TENSOR_TEXT_H

#include "exec/tensor/dense_tensor.h"

/* The tensor a text says; the test fails when it says none.  One number stands
 * for all elements.  The caller clears it. */
mo_tensor_dense tensor_of(const char *text);

/* Is it the tensor that the text says, reals within a part in a hundred
 * thousand? */
void check_tensor(const mo_tensor_dense *dense, const char *text,
                  const char *what);

#endif
