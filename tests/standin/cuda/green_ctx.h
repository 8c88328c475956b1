/* SPDX-License-Identifier: Apache-2.0 */
/*
 * green_ctx.h - green contexts of the stand-in's device.
 *
 * A kernel in a stream of a green context runs on its SMs; a block can query
 * its SM. Nothing else differs.
 */
#ifndef MO_TESTS_STANDIN_CUDA_GREEN_CTX_H
#define MO_TESTS_STANDIN_CUDA_GREEN_CTX_H

#include "tests/standin/cuda/standin_cuda.h"

/* Returns the SM, from 0, that runs a block of a grid; green NULL: on the
 * whole device. */
unsigned standin_green_sm(const struct CUgreenCtx_st *green, uint64_t block);

/* Returns its number of SMs. */
int standin_green_sms(const struct CUgreenCtx_st *green);

/* Whether it was destroyed; its streams fail then. */
bool standin_green_is_gone(const struct CUgreenCtx_st *green);

/* Called when one of its streams is destroyed. */
void standin_green_release(struct CUgreenCtx_st *green);

#endif
