/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/tensor/nhwc.h"

#include <string.h>

#include "base/minmax.h"

enum { BLOCK = 16 };

/* Blocked transpose: a block of either matrix fits into the first-level
 * cache. */
#define TRANSPOSE(type)                                                        \
    static void transpose_##type(const void *source, void *target,             \
                                 int64_t rows, int64_t columns)                \
    {                                                                          \
        const type *from = source;                                             \
        type *to = target;                                                     \
                                                                               \
        for (int64_t i0 = 0; i0 < rows; i0 += BLOCK)                           \
            for (int64_t j0 = 0; j0 < columns; j0 += BLOCK)                    \
                for (int64_t i = i0; i < mo_min_i64(i0 + BLOCK, rows); i++)    \
                    for (int64_t j = j0; j < mo_min_i64(j0 + BLOCK, columns);  \
                         j++)                                                  \
                        to[j * rows + i] = from[i * columns + j];              \
    }

TRANSPOSE(uint8_t)
TRANSPOSE(uint16_t)
TRANSPOSE(uint32_t)
TRANSPOSE(uint64_t)

static void transpose(size_t size, const void *from, void *to, int64_t rows,
                      int64_t columns)
{
    switch (size) {
    case 1:
        transpose_uint8_t(from, to, rows, columns);
        break;
    case 2:
        transpose_uint16_t(from, to, rows, columns);
        break;
    case 4:
        transpose_uint32_t(from, to, rows, columns);
        break;
    default:
        transpose_uint64_t(from, to, rows, columns);
        break;
    }
}

static void convert_layout(const mo_tensor_desc *desc, const char *from,
                           char *to, bool last)
{
    const mo_shape *shape = &desc->shape;
    size_t size = mo_elem_size(desc->elem);
    int64_t elements = mo_tensor_desc_elements(desc), channels, rows;

    if (elements == 0)
        return;
    if (shape->rank < 2) {
        memcpy(to, from, (size_t) elements * size);
        return;
    }
    channels = shape->dims[1];
    elements /= shape->dims[0];
    rows = last ? channels : elements / channels;
    for (int64_t n = 0; n < shape->dims[0]; n++) {
        size_t at = (size_t) (n * elements) * size;

        transpose(size, from + at, to + at, rows, elements / rows);
    }
}

void mo_tensor_to_nhwc(const mo_tensor_desc *desc, const void *from, void *to)
{
    convert_layout(desc, from, to, true);
}

void mo_tensor_to_nchw(const mo_tensor_desc *desc, const void *from, void *to)
{
    convert_layout(desc, from, to, false);
}
