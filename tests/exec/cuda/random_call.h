/* SPDX-License-Identifier: Apache-2.0 */
/*
 * random_call.h - a random call of any kind, with random operands.
 *
 * Sizes exceed a block of threads now and then, and often are no multiples of
 * anything.
 */
#ifndef MO_TESTS_EXEC_CUDA_RANDOM_CALL_H
#define MO_TESTS_EXEC_CUDA_RANDOM_CALL_H

#include "base/random.h"
#include "tests/exec/support/call_case.h"

typedef struct random_call {
    call_case c;
    mo_call_copy_box boxes[3]; /* pointed to by a copy */
    uint64_t seed;
} random_call;

/* Makes a call of that kind, mostly of element type elem; some kinds choose
 * their own. All that does not depend on elem is the same for the same seed. */
void random_call_make(random_call *r, mo_call_kind kind, mo_elem elem,
                      uint64_t seed);

/* Generators by kind: arithmetic, and movement. */
typedef void random_call_maker(random_call *r, mo_random *random, mo_elem elem);

random_call_maker random_point, random_matmul, random_conv, random_pool;
random_call_maker random_reduce, random_softmax, random_norm, random_cumsum;
random_call_maker random_attention_call, random_rnn, random_grid_sample;

random_call_maker random_view, random_copy, random_gather, random_scatter;
random_call_maker random_topk, random_interpolate, random_range;

/* Returns a number from least to most. */
int64_t random_from(mo_random *random, int least, int most);

#endif
