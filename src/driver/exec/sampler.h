/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sampler.h - choice of the next token from logits.
 */
#ifndef MO_DRIVER_EXEC_SAMPLER_H
#define MO_DRIVER_EXEC_SAMPLER_H

#include <stdint.h>

#include "base/error.h"
#include "exec/tensor/dense_tensor.h"

typedef struct mo_sampler mo_sampler;

typedef struct mo_sampler_options {
    double temperature; /* 0: the token with the largest logit */
    int64_t top_k;      /* only so many tokens; 0: all */
    double top_p; /* of these, the most probable ones that have this part of the
                     probability together; 1: all */
    uint64_t seed;
} mo_sampler_options;

/* Allocates everything for a vocabulary of that size; the caller frees
 * *sampler with mo_sampler_free(), which accepts NULL. */
mo_status mo_sampler_new(const mo_sampler_options *options, int64_t vocabulary,
                         mo_sampler **sampler, mo_error *err);
void mo_sampler_free(mo_sampler *sampler);

/* Returns a token by its logits, which are elements first and on; -1: all are
 * NaN or minus infinity.  Of equal ones the smallest id counts as the larger
 * one. */
int64_t mo_sampler_choose(mo_sampler *sampler, const mo_tensor_dense *logits,
                          int64_t first);

#endif
