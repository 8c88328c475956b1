/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/tensor/block_format.h"

#include <string.h>

#include "base/array.h"
#include "exec/tensor/half.h"

static const struct {
    const char *name;
    mo_elem elem;
    int elements;
    size_t bytes;
} formats[MO_BLOCK_FORMATS] = {
    [MO_BLOCK_F32] = { "f32", MO_ELEM_F32, 1, 4 },
    [MO_BLOCK_F16] = { "f16", MO_ELEM_F16, 1, 2 },
    [MO_BLOCK_BF16] = { "bf16", MO_ELEM_BF16, 1, 2 },
    [MO_BLOCK_Q8_0] = { "q8_0", MO_ELEM_U8, MO_BLOCK_ELEMENTS, 34 },
    [MO_BLOCK_Q4_0] = { "q4_0", MO_ELEM_U8, MO_BLOCK_ELEMENTS, 18 },
};

bool mo_block_format_find(const char *name, size_t length,
                          mo_block_format *format)
{
    for (int f = 0; f < MO_BLOCK_FORMATS; f++)
        if (strlen(formats[f].name) == length &&
            memcmp(formats[f].name, name, length) == 0) {
            *format = (mo_block_format) f;
            return true;
        }
    return false;
}

const char *mo_block_format_name(mo_block_format format)
{
    return formats[format].name;
}

int mo_block_format_elements(mo_block_format format)
{
    return formats[format].elements;
}

size_t mo_block_format_bytes(mo_block_format format)
{
    return formats[format].bytes;
}

mo_elem mo_block_format_elem(mo_block_format format)
{
    return formats[format].elem;
}

int64_t mo_block_format_row_bytes(mo_block_format format, int64_t elements)
{
    int64_t bytes;

    if (elements < 0 || elements % formats[format].elements != 0 ||
        !mo_int64_mul(elements / formats[format].elements,
                      (int64_t) formats[format].bytes, &bytes))
        return -1;
    return bytes;
}

int64_t mo_block_format_row_elements(mo_block_format format, int64_t bytes)
{
    int64_t block = (int64_t) formats[format].bytes, elements;

    if (bytes < 0 || bytes % block != 0 ||
        !mo_int64_mul(bytes / block, formats[format].elements, &elements))
        return -1;
    return elements;
}

static float load_scale(const unsigned char *block)
{
    return mo_f16_to_f32((uint16_t) (block[0] | block[1] << 8));
}

static void convert_q8_0(const unsigned char *block, float *to)
{
    float scale = load_scale(block);

    for (int i = 0; i < MO_BLOCK_ELEMENTS; i++)
        to[i] = scale * (float) (int8_t) block[2 + i];
}

static void convert_q4_0(const unsigned char *block, float *to)
{
    float scale = load_scale(block);

    for (int i = 0; i < MO_BLOCK_ELEMENTS / 2; i++) {
        to[i] = scale * (float) ((block[2 + i] & 15) - 8);
        to[i + MO_BLOCK_ELEMENTS / 2] =
            scale * (float) ((block[2 + i] >> 4) - 8);
    }
}

static float load_half(mo_block_format format, const unsigned char *at)
{
    uint16_t half;

    memcpy(&half, at, sizeof half);
    return format == MO_BLOCK_F16 ? mo_f16_to_f32(half) : mo_bf16_to_f32(half);
}

void mo_block_format_to_f32(mo_block_format format, const void *row,
                            int64_t elements, float *to)
{
    const unsigned char *from = row;
    int64_t blocks = elements / formats[format].elements;
    size_t bytes = formats[format].bytes;

    if (format == MO_BLOCK_F32) {
        memcpy(to, row, (size_t) elements * sizeof *to);
        return;
    }
    for (int64_t b = 0; b < blocks; b++, from += bytes)
        if (format == MO_BLOCK_Q8_0)
            convert_q8_0(from, to + b * MO_BLOCK_ELEMENTS);
        else if (format == MO_BLOCK_Q4_0)
            convert_q4_0(from, to + b * MO_BLOCK_ELEMENTS);
        else
            to[b] = load_half(format, from);
}
