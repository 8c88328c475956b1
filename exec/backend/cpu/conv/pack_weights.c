/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Packs convolution weights: into panels for the micro-kernels, or, for
 * depthwise convolutions, by tap and channel.
 */
#include "exec/backend/cpu/conv/cpu_conv.h"

static int64_t group_floats(const mo_cpu_micro_kernels *micro_kernels,
                            const mo_cpu_conv_kernel *k,
                            const mo_cpu_conv_phase *phase)
{
    return mo_cpu_gemm_panel_columns(micro_kernels, k->out_group) *
           phase->n_taps * k->depth;
}

void mo_cpu_conv_weights_layout(const mo_cpu_micro_kernels *micro_kernels,
                                mo_cpu_conv_kernel *kernel)
{
    int64_t floats = 0;

    for (int64_t i = 0; i < kernel->n_phases; i++) {
        mo_cpu_conv_phase *phase = &kernel->phases[i];

        phase->weights_at = floats;
        floats += kernel->by_channel
                      ? phase->n_taps * kernel->call.in_channels
                      : kernel->call.groups *
                            group_floats(micro_kernels, kernel, phase);
    }
    kernel->weight_floats = floats;
}

/* Returns the matrix [in][out] of a group's weights at one kernel element. */
static mo_cpu_matrix_view matrix_at(const mo_cpu_conv_kernel *k,
                                    const void *weights, int64_t group,
                                    int64_t element)
{
    const mo_call_conv *c = &k->call;
    int64_t size = mo_call_window_volume(c->sweep.kernel);
    mo_cpu_matrix_view m = { .data = weights, .elem = k->elem };

    m.at = group * k->in_group * k->out_group * size + element;
    m.row = c->transposed ? k->out_group * size : size;
    m.column = c->transposed ? size : k->in_group * size;
    return m;
}

static void pack_group(const mo_cpu_micro_kernels *micro_kernels,
                       const mo_cpu_conv_kernel *k,
                       const mo_cpu_conv_phase *phase, int64_t group,
                       const void *weights, float *panels)
{
    int64_t depth = phase->n_taps * k->depth;
    /* a merged tap is a row of the kernel, any other is one element */
    int64_t n_elements = k->image.merged ? k->call.sweep.kernel[2] : 1;

    for (int64_t t = 0; t < phase->n_taps; t++)
        for (int64_t i = 0; i < n_elements; i++) {
            mo_cpu_matrix_view m =
                matrix_at(k, weights, group, phase->taps[t].kernel + i);

            mo_cpu_gemm_pack_panels(
                micro_kernels, &m, k->in_group, k->out_group,
                t * k->depth + i * k->in_group, depth, panels);
        }
}

/* Depthwise: the elements of all channels at a tap, contiguous. */
static void pack_channels(const mo_cpu_conv_kernel *k,
                          const mo_cpu_conv_phase *phase, const void *weights,
                          float *packed)
{
    const mo_call_conv *c = &k->call;
    int64_t size = mo_call_window_volume(c->sweep.kernel);

    for (int64_t t = 0; t < phase->n_taps; t++)
        mo_cpu_load_f32(weights, k->elem, phase->taps[t].kernel, size,
                        c->in_channels, packed + t * c->in_channels);
}

void mo_cpu_conv_weights_pack(const mo_cpu_micro_kernels *micro_kernels,
                              const mo_cpu_conv_kernel *kernel,
                              const void *weights, float *packed)
{
    for (int64_t i = 0; i < kernel->n_phases; i++) {
        const mo_cpu_conv_phase *phase = &kernel->phases[i];
        int64_t panel_floats = group_floats(micro_kernels, kernel, phase);

        if (kernel->by_channel) {
            pack_channels(kernel, phase, weights, packed + phase->weights_at);
            continue;
        }
        for (int64_t g = 0; g < kernel->call.groups; g++)
            pack_group(micro_kernels, kernel, phase, g, weights,
                       packed + phase->weights_at + g * panel_floats);
    }
}
