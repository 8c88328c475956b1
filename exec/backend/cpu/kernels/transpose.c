/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Blocked transposition of a plane: rows of the input become columns. Square
 * blocks use each cache line that is read or written completely while it is
 * cached.
 *
 * A block with the side of a vector is transposed in registers. Each stage
 * interleaves the elements of two vectors; log2(side) stages transpose the
 * block:
 *
 *     a0 a1 a2 a3      a0 c0 a1 c1      a0 b0 c0 d0
 *     b0 b1 b2 b3      a2 c2 a3 c3      a1 b1 c1 d1
 *     c0 c1 c2 c3      b0 d0 b1 d1      a2 b2 c2 d2
 *     d0 d1 d2 d3      b2 d2 b3 d3      a3 b3 c3 d3
 */
#include <string.h>

#include "exec/backend/cpu/kernels/strided_copy.h"
#include "exec/backend/cpu/unit/multiversion.h"

enum { SQUARE = 16, VECTOR = 16 };

MO_CPU_INLINE void turn_one_by_one(const mo_cpu_copy_plane *p, const char *in,
                                   char *out, int64_t rows, int64_t columns,
                                   size_t width)
{
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < columns; j++)
            memcpy(out + i * p->out_row + j * (int64_t) width,
                   in + i * (int64_t) width + j * p->in_column, width);
}

/* Images have three channels: a plane of few columns, or of few rows, is
 * traversed once along its length. */
MO_CPU_INLINE void turn_thin(const mo_cpu_copy_plane *p, const char *in,
                             char *out, size_t width)
{
    if (p->columns < SQUARE) {
        turn_one_by_one(p, in, out, p->rows, p->columns, width);
        return;
    }
    for (int64_t j = 0; j < p->columns; j++)
        for (int64_t i = 0; i < p->rows; i++)
            memcpy(out + i * p->out_row + j * (int64_t) width,
                   in + i * (int64_t) width + j * p->in_column, width);
}

#if defined(__has_builtin)
#if __has_builtin(__builtin_shufflevector)
#define HAS_VECTORS 1
#endif
#endif

#ifdef HAS_VECTORS

typedef uint8_t vector_1 __attribute__((vector_size(VECTOR)));
typedef uint16_t vector_2 __attribute__((vector_size(VECTOR)));
typedef uint32_t vector_4 __attribute__((vector_size(VECTOR)));
typedef uint64_t vector_8 __attribute__((vector_size(VECTOR)));

#define LOW_1(a, b)                                                            \
    __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, \
                            22, 7, 23)
#define HIGH_1(a, b)                                                           \
    __builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13,    \
                            29, 14, 30, 15, 31)
#define LOW_2(a, b)  __builtin_shufflevector(a, b, 0, 8, 1, 9, 2, 10, 3, 11)
#define HIGH_2(a, b) __builtin_shufflevector(a, b, 4, 12, 5, 13, 6, 14, 7, 15)
#define LOW_4(a, b)  __builtin_shufflevector(a, b, 0, 4, 1, 5)
#define HIGH_4(a, b) __builtin_shufflevector(a, b, 2, 6, 3, 7)
#define LOW_8(a, b)  __builtin_shufflevector(a, b, 0, 2)
#define HIGH_8(a, b) __builtin_shufflevector(a, b, 1, 3)

#define TURN_SQUARE(width)                                                     \
    MO_CPU_INLINE void turn_square_##width(const mo_cpu_copy_plane *p,         \
                                           const char *in, char *out)          \
    {                                                                          \
        enum { N = VECTOR / width };                                           \
        vector_##width from[N], to[N];                                         \
                                                                               \
        for (int j = 0; j < N; j++)                                            \
            memcpy(&from[j], in + j * p->in_column, VECTOR);                   \
        for (int stage = 1; stage < N; stage *= 2) {                           \
            for (int64_t k = 0; k < N / 2; k++) {                              \
                to[2 * k] = LOW_##width(from[k], from[k + N / 2]);             \
                to[2 * k + 1] = HIGH_##width(from[k], from[k + N / 2]);        \
            }                                                                  \
            memcpy(from, to, sizeof from);                                     \
        }                                                                      \
        for (int i = 0; i < N; i++)                                            \
            memcpy(out + i * p->out_row, &from[i], VECTOR);                    \
    }

TURN_SQUARE(1)
TURN_SQUARE(2)
TURN_SQUARE(4)
TURN_SQUARE(8)

#else
#define turn_square_1(p, in, out) turn_one_by_one(p, in, out, 16, 16, 1)
#define turn_square_2(p, in, out) turn_one_by_one(p, in, out, 8, 8, 2)
#define turn_square_4(p, in, out) turn_one_by_one(p, in, out, 4, 4, 4)
#define turn_square_8(p, in, out) turn_one_by_one(p, in, out, 2, 2, 8)
#endif

#define turn_square_16(p, in, out) memcpy(out, in, 16)

static int64_t at_most_square(int64_t count)
{
    return count < SQUARE ? count : SQUARE;
}

#define TURN(width)                                                            \
    static void turn_whole_##width(const mo_cpu_copy_plane *p, const char *in, \
                                   char *out)                                  \
    {                                                                          \
        for (int64_t i = 0; i < SQUARE; i += VECTOR / width)                   \
            for (int64_t j = 0; j < SQUARE; j += VECTOR / width)               \
                turn_square_##width(p, in + i * width + j * p->in_column,      \
                                    out + i * p->out_row + j * width);         \
    }                                                                          \
    static void turn_##width(const mo_cpu_copy_plane *p, const char *in,       \
                             char *out)                                        \
    {                                                                          \
        if (p->rows < SQUARE || p->columns < SQUARE) {                         \
            turn_thin(p, in, out, width);                                      \
            return;                                                            \
        }                                                                      \
        for (int64_t i = 0; i < p->rows; i += SQUARE)                          \
            for (int64_t j = 0; j < p->columns; j += SQUARE) {                 \
                const char *from = in + i * width + j * p->in_column;          \
                char *to = out + i * p->out_row + j * width;                   \
                                                                               \
                if (p->rows - i >= SQUARE && p->columns - j >= SQUARE)         \
                    turn_whole_##width(p, from, to);                           \
                else                                                           \
                    turn_one_by_one(p, from, to, at_most_square(p->rows - i),  \
                                    at_most_square(p->columns - j), width);    \
            }                                                                  \
    }

TURN(1)
TURN(2)
TURN(4)
TURN(8)
TURN(16)

mo_cpu_copy_fn *mo_cpu_transpose_fn_for(size_t width)
{
    switch (width) {
    case 1:
        return turn_1;
    case 2:
        return turn_2;
    case 4:
        return turn_4;
    case 8:
        return turn_8;
    case 16:
        return turn_16;
    default:
        return NULL;
    }
}
