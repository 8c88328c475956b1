/* SPDX-License-Identifier: Apache-2.0 */
/*
 * decimal.h - decimal numbers of a model file: at most 15 significant digits
 * and 23 characters, without an exponent where every reader accepts it.
 *
 * A model has millions of coefficients but few distinct ones, or long runs of
 * equal ones; a cache keeps the texts of recent ones.
 */
#ifndef MO_MODELS_WRITE_DECIMAL_H
#define MO_MODELS_WRITE_DECIMAL_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { MO_DECIMAL_ROOM = 31, MO_DECIMAL_SLOTS = 512 };

typedef struct mo_decimal {
    double magnitude;
    char text[MO_DECIMAL_ROOM]; /* no terminating 0; may be copied whole */
    unsigned char length;
} mo_decimal;

typedef struct mo_decimals {
    mo_decimal slot[MO_DECIMAL_SLOTS];
} mo_decimals;

/* Writes a finite number >= 0 into text, a buffer of MO_DECIMAL_ROOM
 * characters.  Returns the length. */
size_t mo_decimal_write(char *text, double magnitude);

/* Returns the length of that text without writing it. */
size_t mo_decimal_length(double magnitude);

/* Empties the cache, which the caller owns. */
void mo_decimals_init(mo_decimals *decimals);

/* Fills a slot of the cache; called by mo_decimal_of on a miss. */
void mo_decimal_make(mo_decimal *decimal, double magnitude);

/* Returns the text of a finite number >= 0, valid until the next call. */
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
