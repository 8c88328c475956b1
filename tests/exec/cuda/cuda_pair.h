/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cuda_pair.h - the same calls on the CPU backend and on CUDA's.
 *
 * On the stand-in for a GPU, unless MOIRAI_TEST_GPU is set: then on the first
 * GPU there is, with all libraries that are found.
 */
#ifndef MO_TESTS_EXEC_CUDA_CUDA_PAIR_H
#define MO_TESTS_EXEC_CUDA_CUDA_PAIR_H

#include <stdbool.h>
#include <stdint.h>

#include "exec/backend/backend.h"
#include "tests/exec/support/call_case.h"

/* From now on, in this process; before anything of CUDA is used. */
void use_standin(void);

/* The stand-in or the GPU, as is asked for; the test program ends with 77 if
 * that is a GPU and there is none. */
void use_cuda(void);

/* Runs all of them on both; fails unless all results are the same but for what
 * the types of elements and the precision allow, relative to the largest number
 * of a tensor.  Integers are the same.  seeds tell which case it was. */
void pair_check(call_case *const *cases, int n, mo_backend_precision precision,
                const uint64_t *seeds);

#endif
