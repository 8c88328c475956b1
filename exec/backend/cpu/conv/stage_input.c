/* SPDX-License-Identifier: Apache-2.0 */
/* Staging of the input image: converted to padded NHWC in f32. */
#include <string.h>

#include "exec/backend/cpu/conv/cpu_conv.h"

typedef struct staging {
    const mo_cpu_conv_kernel *kernel;
    const void *data;
    float *stage;
} staging;

/* Converts lines along the last dimension, padded with zeros. */
static void stage_lines(void *context, int64_t begin, int64_t end, int worker)
{
    const staging *s = context;
    const mo_cpu_conv_kernel *k = s->kernel;
    const mo_cpu_conv_image *p = &k->image;
    int64_t channels = p->channels, width = p->in[2];
    int64_t lines = p->in[0] * p->in[1];
    int64_t behind = p->extent[2] - p->shift - width;

    (void) worker;
    for (int64_t line = begin; line < end; line++) {
        int64_t image = line / lines, place = line % lines * width;
        float *to = s->stage + line * p->extent[2] * channels;
        mo_cpu_matrix_view from = { .data = s->data, .elem = k->elem };

        memset(to, 0, (size_t) (p->shift * channels) * sizeof *to);
        to += p->shift * channels;
        if (k->call.channels_last) {
            mo_cpu_load_f32(s->data, k->elem, line * width * channels, 1,
                            width * channels, to);
        } else {
            from.at = image * channels * lines * width + place;
            from.row = 1;
            from.column = lines * width;
            mo_cpu_load_f32_matrix(&from, width, channels, to, channels);
        }
        memset(to + width * channels, 0,
               (size_t) (behind * channels) * sizeof *to);
    }
}

void mo_cpu_conv_stage_input(mo_cpu_unit *unit,
                             const mo_cpu_conv_kernel *kernel, const void *data,
                             float *stage)
{
    enum { FLOATS_AT_ONCE = 1 << 14 };
    const mo_cpu_conv_image *p = &kernel->image;
    staging s = { kernel, data, stage };
    int64_t each = p->extent[2] * p->channels + 1;

    mo_cpu_thread_pool_parallel_for(unit->pool,
                                    kernel->call.batch * p->in[0] * p->in[1],
                                    1 + FLOATS_AT_ONCE / each, stage_lines, &s);
}
