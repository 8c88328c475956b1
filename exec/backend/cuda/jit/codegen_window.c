/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/backend/cuda/jit/codegen_window.h"

#include <limits.h>

void mo_cuda_emit_window(mo_cuda_source *code, const mo_call_window *s)
{
    for (int d = 0; d < MO_CALL_MAX_SPATIAL; d++)
        mo_cuda_source_printf(
            code,
            "#define I%d ((PLACE) %lld)\n#define O%d ((PLACE) %lld)\n"
            "#define K%d ((PLACE) %lld)\n#define S%d ((PLACE) %lld)\n"
            "#define D%d ((PLACE) %lld)\n#define P%d ((PLACE) %lld)\n",
            d, (long long) s->in[d], d, (long long) s->out[d], d,
            (long long) s->kernel[d], d, (long long) s->stride[d], d,
            (long long) s->dilation[d], d, (long long) s->pad_begin[d]);
    mo_cuda_source_append(code,
                          "#define I (I0 * I1 * I2)\n#define O (O0 * O1 * O2)\n"
                          "#define TAPS (K0 * K1 * K2)\n");
}

int64_t mo_cuda_window_max_index(const mo_call_window *s, int64_t elements)
{
    double most = (double) elements;

    for (int d = 0; d < MO_CALL_MAX_SPATIAL; d++) {
        double far = ((double) s->out[d] + 1) * (double) s->stride[d] +
                     (double) s->pad_begin[d] + (double) s->in[d] +
                     (double) s->pad_end[d] +
                     (double) s->kernel[d] * (double) s->dilation[d];

        most = far > most ? far : most;
    }
    return most < (double) INT_MAX ? (int64_t) most : INT64_MAX;
}
