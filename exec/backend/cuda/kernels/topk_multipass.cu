/* SPDX-License-Identifier: Apache-2.0 */
/* Top-k of long lines: blocks sort chunks of a line and keep the best K of each
 * as a run; neighbouring runs are merged, K of each pair kept, until one run is
 * left. */
/* example:begin */
#include "exec/backend/cuda/kernels/topk.cu"
#define AGAIN 0
/* example:end */
/* embed: run_source */
/* run_of: entries kept of size elements.  length_of: entries of run r, where each
 * run stands for size of count elements. */
MO_DEVICE PLACE run_of(PLACE size)
{
    return size < (PLACE) K ? size : (PLACE) K;
}
MO_DEVICE PLACE length_of(PLACE r, PLACE size, PLACE count)
{
    const PLACE rest = r * size < count ? count - r * size : 0;
    return run_of(rest < size ? rest : size);
}
/* embed: sort_source */
/* AGAIN: sorts the K entries found by their index. */
MO_KERNEL_OF(topk_sort, BLOCK)(const T *in, const ENTRY *found,
                               ENTRY *runs)
{
    MO_SHARED ENTRY e[CHUNK];
    const PLACE count = AGAIN ? (PLACE) K : (PLACE) COUNT;
    const PLACE chunks = (count + CHUNK - 1) / CHUNK;
    const PLACE line = (PLACE) blockIdx.x / chunks;
    const PLACE r = (PLACE) blockIdx.x % chunks;
    const PLACE length = length_of(r, CHUNK, count);
    MO_BEGIN();
    for (int i = (int) threadIdx.x; i < CHUNK; i += BLOCK) {
        const PLACE at = r * CHUNK + i;
        ENTRY x;
        x.key = ~0ull;
        x.index = 0x7fffffffffffffffll - CHUNK + i;
        if (at < count && AGAIN) {
            x.key = 0;
            x.index = found[line * (PLACE) K + at].index;
        } else if (at < count) {
            x = entry_of(in[FROM(line) + at * (PLACE) INNER], at);
        }
        e[i] = x;
    }
    sort(e);
    for (int i = (int) threadIdx.x; i < length; i += BLOCK)
        runs[(PLACE) blockIdx.x * run_of(CHUNK) + i] = e[i];
}
/* embed: merge_source */
MO_KERNEL_OF(topk_merge, BLOCK)(const ENTRY *from, ENTRY *to,
                                long long size_, long long count_)
{
    const PLACE size = (PLACE) size_, count = (PLACE) count_;
    const PLACE room = run_of(size), more = run_of(2 * size);
    const PLACE n = (count + size - 1) / size, half = (n + 1) / 2;
    const PLACE self = (PLACE) blockIdx.x * BLOCK + (int) threadIdx.x;
    const PLACE line = self / (n * room), i = self % room;
    const PLACE r = self / room % n, other = r ^ 1;
    MO_BEGIN();
    if (line >= (PLACE) LINES || i >= length_of(r, size, count))
        return;
    const ENTRY e = from[self];
    const ENTRY *run = from + (line * n + other) * room;
    PLACE low = 0, high = length_of(other, size, count);
    while (low < high) {
        const PLACE middle = low + (high - low) / 2;
        if (better(run[middle], e))
            low = middle + 1;
        else
            high = middle;
    }
    if (i + low < more)
        to[(line * half + r / 2) * more + i + low] = e;
}
/* embed: put_source */
MO_KERNEL_OF(topk_put, BLOCK)(const T *in, const ENTRY *found,
                              T *values, INDEX *indices)
{
    const PLACE self = (PLACE) blockIdx.x * BLOCK + (int) threadIdx.x;
    MO_BEGIN();
    if (self < (PLACE) LINES * (PLACE) K)
        put(in, values, indices, self / (PLACE) K, self % (PLACE) K,
            found[self].index);
}
