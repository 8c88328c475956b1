/* SPDX-License-Identifier: Apache-2.0 */
/*
 * standin_cuda_green.h - parts of the stand-in's device.
 *
 * A kernel in a stream of a green context runs on the SMs of that; which one a
 * block is on, it may ask.  All else is as it is without.
 */
#ifndef MO_TESTS_STANDIN_CUDA_GREEN_CTX_H
#define MO_TESTS_STANDIN_CUDA_GREEN_CTX_H

#include "tests/standin/cuda/standin_cuda.h"

/* Where that block of a grid runs, counted from 0; green NULL: on the whole
 * device. */
unsigned standin_green_sm(const struct CUgreenCtx_st *green, uint64_t block);

/* How many SMs it has. */
int standin_green_sms(const struct CUgreenCtx_st *green);

/* It was destroyed; its streams can do no more. */
bool standin_green_is_gone(const struct CUgreenCtx_st *green);

/* One of its streams is destroyed. */
void standin_green_release(struct CUgreenCtx_st *green);

#endif
