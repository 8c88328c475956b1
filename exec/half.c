#include "exec/half.h"

/*
 * A half has 10 bits behind the point and exponents from -14 to 15.
 *
 *     |x| below 2^-14    subnormal: multiples of 2^-24.  The floats from 0.5 to
 *                        1 are just those apart, so adding 0.5 rounds, and the
 *                        bits beyond those of 0.5 are the result.
 *     |x| below 65536    13 bits are cut off: add half of the last that stays
 *                        (a little less when it is even), the carry may run
 *                        into the exponent and even to infinity.
 *     else               infinity, or NaN.
 *
 * All three are computed and one is chosen, so that loops become vectors.
 */
static inline uint16_t f16_of_float(float x)
{
    uint32_t bits = mo_bits_of_float(x);
    uint32_t sign = bits >> 16 & 0x8000u;
    uint32_t size = bits & 0x7fffffffu;
    uint32_t small = mo_bits_of_float(mo_float_of_bits(size) + 0.5f) -
                     mo_bits_of_float(0.5f);
    uint32_t normal = (size - (112u << 23) + 0xfffu + (size >> 13 & 1u)) >> 13;
    uint32_t large = size > 0x7f800000u ? 0x7e00u : 0x7c00u;
    uint32_t half = size < 113u << 23 ? small : normal;

    return (uint16_t) (sign | (size >= 143u << 23 ? large : half));
}

uint16_t mo_f16_of_float(float x)
{
    return f16_of_float(x);
}

void mo_f16_of_floats(const float *from, uint16_t *to, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        to[i] = f16_of_float(from[i]);
}
