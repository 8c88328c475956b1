/* SPDX-License-Identifier: Apache-2.0 */
#include "models/write/decimal.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/number.h"

_Static_assert(MO_DECIMAL_SLOTS == 512, "as many as the hash has values");
_Static_assert((int) MO_DECIMAL_ROOM <= (int) MO_NUMBER_SIZE,
               "what fits here fits a buffer for any number");

enum { MILLION = 1000000 };

/* Rounding to 15 digits and back gives the number whose shortest text has at
 * most those; the locale is the same both ways. */
static size_t write_rounded(char *text, double magnitude)
{
    char digits[MO_NUMBER_SIZE], whole[MO_NUMBER_SIZE];
    size_t length;

    snprintf(digits, sizeof digits, "%.14e", magnitude);
    length = mo_number_write_double(whole, strtod(digits, NULL));
    assert(length < MO_DECIMAL_ROOM);
    memcpy(text, whole, length);
    return length;
}

/* Below 10^15 millionths the nearest whole number of them has 15 digits; if
 * the double is the nearest to it, it is the one to write. */
static bool to_millionths(double magnitude, int64_t *millionths)
{
    double whole = magnitude * MILLION;

    assert(isfinite(magnitude) && magnitude >= 0);
    if (whole >= 1e15)
        return false;
    whole = rint(whole);
    *millionths = (int64_t) whole;
    return whole / MILLION == magnitude;
}

size_t mo_decimal_write(char *text, double magnitude)
{
    int64_t millionths;

    if (to_millionths(magnitude, &millionths)) {
        /* Millionths as a fraction without trailing zeros. */
        size_t length = mo_number_write_int(text, millionths / MILLION);
        int rest = (int) (millionths % MILLION);

        if (rest == 0)
            return length;
        text[length] = '.';
        for (int i = 6; i > 0; i--) {
            text[length + (size_t) i] = (char) ('0' + rest % 10);
            rest /= 10;
        }
        length += 7;
        while (text[length - 1] == '0')
            length--;
        return length;
    }
    return write_rounded(text, magnitude);
}

size_t mo_decimal_length(double magnitude)
{
    char text[MO_NUMBER_SIZE];
    int64_t millionths;
    size_t length = 1;
    int rest;

    if (!to_millionths(magnitude, &millionths))
        return write_rounded(text, magnitude);
    for (int64_t whole = millionths / MILLION; whole >= 10; whole /= 10)
        length++;
    rest = (int) (millionths % MILLION);
    if (rest == 0)
        return length;
    for (length += 7; rest % 10 == 0; rest /= 10)
        length--;
    return length;
}

/* No magnitude is negative: every slot is free. */
void mo_decimals_init(mo_decimals *decimals)
{
    memset(decimals, 0, sizeof *decimals);
    for (int i = 0; i < MO_DECIMAL_SLOTS; i++)
        decimals->slot[i].magnitude = -1;
}

void mo_decimal_make(mo_decimal *decimal, double magnitude)
{
    decimal->length =
        (unsigned char) mo_decimal_write(decimal->text, magnitude);
    decimal->magnitude = magnitude;
}
