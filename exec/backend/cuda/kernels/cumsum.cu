/* SPDX-License-Identifier: Apache-2.0 */
/* Prefix sum (scan) along a dimension: one thread per line where lines are many
 * or short, else one block per line that scans it chunk by chunk (Hillis and
 * Steele 1986 within a warp).  Reals are summed in double. */
/* example:begin */
#include "exec/backend/cuda/jit/example.cuh"
typedef double A;
#define ADD a + b
#define SHUFFLE_UP mo_shfl_up_d
#define LINES 64LL
#define COUNT 5000LL
#define INNER 1LL
#define REVERSE 0
#define EXCLUSIVE 0
#define BLOCK 256
#define PER 4
/* example:end */
/* embed: common_source */
MO_DEVICE A add(A a, A b) { return ADD; }
/* Offset of step i of a line with its first element at from. */
#define AT(i) (from + (REVERSE ? (PLACE) COUNT - 1 - (i) : (i)) * \
                      (PLACE) INNER)
#define FROM(line) ((line) / (PLACE) INNER * (PLACE) COUNT * \
                        (PLACE) INNER + (line) % (PLACE) INNER)
/* embed: thread_source */
MO_KERNEL_OF(cumsum, BLOCK)(const T *in, T *out, struct mo_extra p)
{
    const PLACE line = (PLACE) blockIdx.x * BLOCK + (int) threadIdx.x;
    const PLACE from = FROM(line);
    A sum = 0;
    MO_BEGIN();
    if (line >= (PLACE) LINES)
        return;
#pragma unroll 4
    for (PLACE i = 0; i < (PLACE) COUNT; i++) {
        const A before = sum;
        sum = add(sum, (A) load(in[AT(i)]));
        const R v = (R) (EXCLUSIVE ? before : sum);
        finish1(AT(i), &v, p, out);
    }
}
/* example:begin */
#define cumsum cumsum_block
/* example:end */
/* embed: block_source */
/* Exclusive scan over the threads of the block; *total is the sum of all. */
MO_DEVICE A scan(A x, A *total)
{
    MO_SHARED A cells[BLOCK / 32];
    A sum = x, before = 0;
    for (int by = 1; by < 32; by *= 2) {
        const A other = SHUFFLE_UP(sum, by);
        sum = MO_LANE >= by ? add(other, sum) : sum;
    }
    MO_SYNC();
    if (MO_LANE == 31)
        cells[MO_WARP] = sum;
    MO_SYNC();
    *total = 0;
    for (int w = 0; w < BLOCK / 32; w++) {
        before = w == MO_WARP ? *total : before;
        *total = add(*total, cells[w]);
    }
    sum = SHUFFLE_UP(sum, 1);
    return MO_LANE > 0 ? add(before, sum) : before;
}
MO_KERNEL_OF(cumsum, BLOCK)(const T *in, T *out, struct mo_extra p)
{
    const PLACE from = FROM((PLACE) blockIdx.x);
    A carry = 0;
    MO_BEGIN();
    for (PLACE chunk = 0; chunk < (PLACE) COUNT; chunk += BLOCK * PER) {
        const PLACE first = chunk + (int) threadIdx.x * PER;
        A x[PER], mine = 0, total, sum;
        for (int j = 0; j < PER; j++) {
            x[j] = first + j < (PLACE) COUNT ? (A) load(in[AT(first + j)])
                                             : 0;
            mine = add(mine, x[j]);
        }
        sum = add(carry, scan(mine, &total));
        for (int j = 0; j < PER && first + j < (PLACE) COUNT; j++) {
            const A before = sum;
            sum = add(sum, x[j]);
            const R v = (R) (EXCLUSIVE ? before : sum);
            finish1(AT(first + j), &v, p, out);
        }
        carry = add(carry, total);
    }
}
