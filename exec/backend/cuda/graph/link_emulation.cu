/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels of link emulation: a time stamp at the begin of a transfer, a wait for
 * its emulated end, and a device-to-device copy that contains the wait. */
/* example:begin */
#include "exec/backend/cuda/jit/prelude_launch.cuh"
/* example:end */
/* embed: begin_source */
MO_KERNEL_OF(hold_begin, 32)(unsigned long long *begun)
{
    MO_BEGIN();
    *begun = mo_globaltimer();
}
/* embed: end_source */
MO_KERNEL_OF(hold_end, 32)(const unsigned long long *begun,
                           unsigned long long ns)
{
    unsigned long long until;
    MO_BEGIN();
    until = *begun + ns;
    while (mo_globaltimer() < until)
        mo_nap();
}
/* embed: copy_source */
/* Copies words of 16 bytes, four loads in flight per thread.  One thread of the
 * first block waits; the other blocks end when they have copied. */
MO_KERNEL_OF(hold_copy, 512)(unsigned char *to,
                             const unsigned char *from,
                             long long bytes, unsigned long long ns)
{
    const uint4 *in = (const uint4 *) from;
    uint4 *out = (uint4 *) to, x[4];
    const long long n = (long long) blockDim.x * gridDim.x;
    const long long first = (long long) blockDim.x * blockIdx.x +
                            threadIdx.x, words = bytes / 16;
    unsigned long long until;
    MO_BEGIN();
    until = mo_globaltimer() + ns;
    for (long long i = first; i < words; i += 4 * n) {
        #pragma unroll
        for (int k = 0; k < 4; k++)
            if (i + k * n < words)
                x[k] = in[i + k * n];
        #pragma unroll
        for (int k = 0; k < 4; k++)
            if (i + k * n < words)
                out[i + k * n] = x[k];
    }
    for (long long i = 16 * words + first; i < bytes; i += n)
        to[i] = from[i];
    while (first == 0 && mo_globaltimer() < until)
        mo_nap();
}
