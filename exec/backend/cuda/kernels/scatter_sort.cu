/* SPDX-License-Identifier: Apache-2.0 */
/* Compare-exchange steps of a bitonic sort (Batcher 1968) of 64-bit keys. */
/* example:begin */
#include "exec/backend/cuda/jit/prelude_launch.cuh"
/* example:end */
/* embed: exchange_source */
/* Puts keys a and b into ascending order if up, else into descending order. */
MO_DEVICE void exchange(unsigned long long *a, unsigned long long *b, int up)
{
    const unsigned long long x = *a, y = *b;
    if ((x > y) == (up != 0)) {
        *a = y;
        *b = x;
    }
}
/* embed: block_steps_source */
/* Steps j, j / 2, ..., 1 of stage k over the keys of a block in shared memory;
 * the first of them is key number first of all.  One pair per thread. */
MO_DEVICE void block_steps(unsigned long long *shared, unsigned first, unsigned k, unsigned j)
{
    for (; j > 0; j /= 2) {
        const unsigned t = threadIdx.x;
        const unsigned i = 2 * t - (t & (j - 1));
        MO_SYNC();
        exchange(&shared[i], &shared[i + j], ((first + i) & k) == 0);
    }
    MO_SYNC();
}
