/* SPDX-License-Identifier: Apache-2.0 */
/* Top-k of lines that fit into shared memory: bitonic sort (Batcher 1968) of one
 * line per block.  Keys are bit patterns that as unsigned have the order of
 * the elements; ties are broken by the index. */
/* example:begin */
#include "exec/backend/cuda/jit/example.cuh"
typedef long long INDEX;
#define REAL 1
#define SIGNED 1
#define LARGEST 1
#define BY_INDEX 0
#define LINES 64LL
#define COUNT 1000LL
#define INNER 1LL
#define K 10LL
#define CHUNK 1024
#define BLOCK 256
/* example:end */
/* embed: common_source */
typedef struct { unsigned long long key; long long index; } ENTRY;
#define SIGN (1ull << 63)
MO_DEVICE int better(ENTRY a, ENTRY b)
{
    return a.key != b.key ? a.key < b.key : a.index < b.index;
}
/* Bits of negative reals are inverted; adding 0 turns -0 into 0. NaN of either
 * sign is the largest. */
MO_DEVICE ENTRY entry_of(T x, long long index)
{
    ENTRY e;
#if REAL
    const double y = (double) load(x) + 0.0;
    const unsigned long long bits =
        y != y ? 0x7ff8ull << 48 : mo_bits_of_double(y);
    e.key = bits & SIGN ? ~bits : bits | SIGN;
#else
    e.key = (unsigned long long) load(x) ^ (SIGNED ? SIGN : 0);
#endif
    e.key = LARGEST ? ~e.key : e.key;
    e.index = index;
    return e;
}
MO_DEVICE void sort(ENTRY *e)
{
    for (int size = 2; size <= CHUNK; size *= 2)
        for (int gap = size / 2; gap; gap /= 2) {
            MO_SYNC();
            for (int i = (int) threadIdx.x; i < CHUNK / 2; i += BLOCK) {
                const int a = 2 * i - (i & (gap - 1)), b = a + gap;
                const ENTRY x = e[a], y = e[b];
                if (better(y, x) == ((a & size) == 0)) {
                    e[a] = y;
                    e[b] = x;
                }
            }
        }
    MO_SYNC();
}
#define START(line, size) ((line) / (PLACE) INNER * (PLACE) (size) * \
                           (PLACE) INNER + (line) % (PLACE) INNER)
#define FROM(line) START(line, COUNT)
#define TO(line) START(line, K)
MO_DEVICE void put(const T *in, T *values, INDEX *indices, PLACE line,
                   PLACE i, long long index)
{
    const PLACE to = TO(line) + i * (PLACE) INNER;
    values[to] = in[FROM(line) + (PLACE) index * (PLACE) INNER];
    indices[to] = (INDEX) index;
}
/* embed: kernel_source */
/* Padding of the chunk sorts behind all else. For the order by index all
 * selected entries get the same key. */
MO_KERNEL_OF(topk, BLOCK)(const T *in, T *values, INDEX *indices)
{
    MO_SHARED ENTRY e[CHUNK];
    const PLACE line = (PLACE) blockIdx.x;
    const PLACE from = FROM(line);
    MO_BEGIN();
    for (int i = (int) threadIdx.x; i < CHUNK; i += BLOCK) {
        ENTRY rest;
        rest.key = ~0ull;
        rest.index = i;
        e[i] = i < COUNT ? entry_of(in[from + i * (PLACE) INNER], i)
                         : rest;
    }
    sort(e);
    if (BY_INDEX) {
        for (int i = (int) threadIdx.x; i < CHUNK; i += BLOCK)
            e[i].key = i < K ? 0 : ~0ull;
        sort(e);
    }
    for (int i = (int) threadIdx.x; i < K; i += BLOCK)
        put(in, values, indices, line, i, e[i].index);
}
