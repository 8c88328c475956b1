/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cuda_pair.h - runs the same calls on the CPU backend and on CUDA's.
 *
 * On the stand-in for a GPU, unless MOIRAI_TEST_GPU is set: then on the first
 * GPU, with all libraries that are found.
 */
#ifndef MO_TESTS_EXEC_CUDA_CUDA_PAIR_H
#define MO_TESTS_EXEC_CUDA_CUDA_PAIR_H

#include <stdbool.h>
#include <stdint.h>

#include "exec/backend/backend.h"
#include "tests/exec/support/call_case.h"

/* Selects the stand-in for this process; called before anything of CUDA is
 * used. */
void use_standin(void);

/* Selects the stand-in or the GPU by MOIRAI_TEST_GPU; the program exits with
 * 77 if there is no GPU. */
void use_cuda(void);

/* Runs all cases on both backends; fails unless the results agree within the
 * tolerance of element type and precision, relative to the largest element of
 * a tensor. Integers must be equal. seeds identify the case in messages. */
void pair_check(call_case *const *cases, int n, mo_backend_precision precision,
                const uint64_t *seeds);

#endif
