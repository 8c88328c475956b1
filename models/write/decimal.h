/* SPDX-License-Identifier: Apache-2.0 */
/*
 * decimal.h - numbers as a model file has them: at most 15 significant digits
 * and 23 characters, without an exponent where any solver is at ease.
 *
 * A model has millions of coefficients but few different ones, or many in a row
 * that are the same; a table keeps the texts of those met lately.
 */
#ifndef MO_MODELS_WRITE_DECIMAL_H
#define MO_MODELS_WRITE_DECIMAL_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { MO_DECIMAL_ROOM = 31, MO_DECIMAL_SLOTS = 512 };

typedef struct mo_decimal {
    double magnitude;
    char text[MO_DECIMAL_ROOM]; /* no 0 behind it; may be copied whole */
    unsigned char length;
} mo_decimal;

typedef struct mo_decimals {
    mo_decimal slot[MO_DECIMAL_SLOTS];
} mo_decimals;

/* Writes a finite number >= 0; text has room for MO_DECIMAL_ROOM.  Returns the
 * length. */
size_t mo_decimal_write(char *text, double magnitude);

/* How long that would be, for less than writing it. */
size_t mo_decimal_length(double magnitude);

void mo_decimals_init(mo_decimals *decimals);

/* What mo_decimal_of does with a number it has not met lately. */
void mo_decimal_make(mo_decimal *decimal, double magnitude);

/* The text of a finite number >= 0, valid until the next call. */
static inline const mo_decimal *mo_decimal_of(mo_decimals *decimals,
                                              double magnitude)
{
    mo_decimal *decimal;
    uint64_t bits;

    memcpy(&bits, &magnitude, sizeof bits);
    bits *= UINT64_C(0x9e3779b97f4a7c15);
    decimal = &decimals->slot[bits >> 55]; /* 2^9 slots */
    if (decimal->magnitude != magnitude)
        mo_decimal_make(decimal, magnitude);
    return decimal;
}

#endif
