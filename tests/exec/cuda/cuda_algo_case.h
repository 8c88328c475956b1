/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cuda_algo_case.h - runs every algorithm of a product or convolution on a
 * GPU, one by one, and compares it with the CPU: a wrong algorithm is found
 * even where another is faster.
 */
#ifndef MO_TESTS_EXEC_CUDA_CUDA_ALGO_CASE_H
#define MO_TESTS_EXEC_CUDA_CUDA_ALGO_CASE_H

#include "tests/exec/support/call_case.h"

/* Returns false, with a message, where no device can be opened. Without
 * MOIRAI_TEST_GPU the GPU and its libraries are our stand-ins, unless
 * variables name others (exec/backend/cuda/driver/cuda_api.h). */
bool cuda_is_there(void);

/* Whether it is a GPU, on which many cases take little time. */
bool cuda_is_real(void);
bool cuda_is_fast(void);

/* Compares all algorithms with names that begin with kind; returns their
 * number. The case's result is left as the CPU computes it. */
int check_algos(call_case *c, mo_backend_precision precision, const char *kind);

/* Whether the library was loaded, so that it must offer algorithms. */
bool cuda_has_blas(void);
bool cuda_has_dnn(void);

#endif
