/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cuda_ways.h - every way to do a product or convolution on a GPU, one by one,
 * against the CPU: a wrong way is seen even where another is faster.
 */
#ifndef MO_TESTS_EXEC_CUDA_CUDA_ALGO_CASE_H
#define MO_TESTS_EXEC_CUDA_CUDA_ALGO_CASE_H

#include "tests/exec/support/call_case.h"

/* Without MOIRAI_TEST_GPU the GPU and its libraries are stand-ins of our own,
 * unless variables name others (exec/backend/cuda/driver/cuda_api.h).  False
 * where nothing of it can be had; says why. */
bool cuda_is_there(void);

/* Is that a GPU, and one where many cases take little time? */
bool cuda_is_real(void);
bool cuda_is_fast(void);

/* The case's result is left as the CPU makes it.  Returns how many ways were
 * tried whose names begin with kind. */
int check_ways(call_case *c, mo_backend_precision precision, const char *kind);

/* The library has been found and must offer something. */
bool cuda_has_blas(void);
bool cuda_has_dnn(void);

#endif
