/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tensor_text.h - small tensors as texts: "f32[2,2] 1 -2.5 inf nan".
 */
#ifndef MO_TESTS_EXEC_OP_TENSOR_TEXT_H
#define MO_TESTS_EXEC_OP_TENSOR_TEXT_H

#include "exec/tensor/dense_tensor.h"

/* Parses a tensor; the test fails when the text is invalid. One number stands
 * for all elements. The caller frees it with mo_tensor_clear(). */
mo_tensor_dense tensor_of(const char *text);

/* Fails unless dense is the tensor of text, reals within a part in a hundred
 * thousand. */
void check_tensor(const mo_tensor_dense *dense, const char *text,
                  const char *what);

#endif
