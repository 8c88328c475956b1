/* SPDX-License-Identifier: Apache-2.0 */
#include "base/number.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Both fast paths rest on one fact. Integers up to 2^53 and powers of ten up
 * to 10^22 are doubles without rounding, and IEEE 754 rounds a single
 * multiplication or division correctly. So m * 10^e and m / 10^e are the
 * double nearest to that decimal, for any such m and e. (Not where the
 * processor computes with more digits than it stores, hence EXACT.) The idea
 * is Clinger's (1990).
 *
 * Longer numbers go through strtod and printf, without a decimal point in the
 * text, so that the locale does not matter.
 */
enum { EXACT = FLT_EVAL_METHOD == 0, MAX_POWER = 22 };

static const uint64_t max_exact = (uint64_t) 1 << 53;

static const double powers[MAX_POWER + 1] = {
    1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
    1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
};

/*
 * No double, and no middle between two of them, has more than 768 significant
 * digits.  So of the digits beyond MAX_DIGITS it only matters whether one of
 * them is not 0.
 */
enum { MAX_DIGITS = 800 };

/* Returns the double nearest to 0.d1d2...dn * 10^scale; infinite when too
 * large. digits has space for the exponent that is appended. */
static double nearest_double(char digits[MAX_DIGITS + 32], size_t n,
                             int64_t scale)
{
    int64_t exponent = scale - (int64_t) n;

    /* Far beyond what a double can hold in either direction. */
    if (exponent > 9999)
        exponent = 9999;
    if (exponent < -9999)
        exponent = -9999;
    snprintf(digits + n, MAX_DIGITS + 32 - n, "e%d", (int) exponent);
    return strtod(digits, NULL);
}

static size_t count_digits(uint64_t value)
{
    for (size_t n = 1;; n += 4) {
        if (value < 10)
            return n;
        if (value < 100)
            return n + 1;
        if (value < 1000)
            return n + 2;
        if (value < 10000)
            return n + 3;
        value /= 10000;
    }
}

/* Two digits per step, the last ones first. */
static size_t write_digits(char *text, uint64_t value)
{
    static const char pairs[] = "00010203040506070809101112131415161718192021"
                                "22232425262728293031323334353637383940414243"
                                "44454647484950515253545556575859606162636465"
                                "66676869707172737475767778798081828384858687"
                                "888990919293949596979899";
    size_t n = count_digits(value);
    char *at = text + n;

    while (value >= 100) {
        at -= 2;
        memcpy(at, pairs + value % 100 * 2, 2);
        value /= 100;
    }
    if (value >= 10)
        memcpy(text, pairs + value * 2, 2);
    else
        *text = (char) ('0' + value);
    return n;
}

size_t mo_number_write_int(char *text, int64_t value)
{
    if (value >= 0)
        return write_digits(text, (uint64_t) value);
    *text = '-';
    return 1 + write_digits(text + 1, 0 - (uint64_t) value);
}

/* A positive number as 0.d1d2...dn * 10^scale, with d1 and dn not 0. */
typedef struct decimal {
    char digits[MAX_DIGITS + 32];
    size_t n;
    int64_t scale;
} decimal;

/* Finds a decimal of at most 15 digits that equals value, if there is one. Up
 * to 15 digits the product is off by less than a half, so rounding finds it. */
static bool short_decimal(decimal *d, double value)
{
    for (int k = 1; EXACT && k <= MAX_POWER; k++) {
        double scaled = value * powers[k];
        uint64_t m;

        if (scaled >= 1e15)
            return false;
        m = (uint64_t) (scaled + 0.5);
        if ((double) m / powers[k] == value) {
            d->n = write_digits(d->digits, m);
            d->scale = (int64_t) d->n - k;
            return true;
        }
    }
    return false;
}

/* The decimal of n digits that is closest to value. */
static void closest_decimal(decimal *d, double value, size_t n)
{
    char text[64];
    const char *at = text;

    snprintf(text, sizeof text, "%.*e", (int) n - 1, value);
    d->n = 0;
    for (; *at != 'e'; at++)
        if (*at >= '0' && *at <= '9')
            d->digits[d->n++] = *at;
    d->scale = strtol(at + 1, NULL, 10) + 1;
}

/* The next larger decimal with as many digits; false when a digit would be
 * added. */
static bool increment_decimal(decimal *d)
{
    size_t i = d->n;

    while (i > 0 && d->digits[i - 1] == '9')
        d->digits[--i] = '0';
    if (i == 0)
        return false;
    d->digits[i - 1]++;
    return true;
}

static bool reads_back(decimal *d, double value)
{
    return nearest_double(d->digits, d->n, d->scale) == value;
}

/*
 * The fewest digits that read back to the same double. A normal double that is
 * a decimal of up to 15 digits is printed as that one with 15, so there is no
 * need to try fewer. At a power of two the gap to the next double above is
 * twice that below, so the closest decimal may belong to the double below
 * while the one above it reads back correctly.
 */
static void shortest_decimal(decimal *d, double value)
{
    int exponent;
    bool lopsided = frexp(value, &exponent) == 0.5;

    for (size_t n = isnormal(value) ? DBL_DIG : 1; n <= 17; n++) {
        closest_decimal(d, value, n);
        if (reads_back(d, value) ||
            (lopsided && increment_decimal(d) && reads_back(d, value)))
            break;
    }
    while (d->n > 1 && d->digits[d->n - 1] == '0')
        d->n--;
}

static size_t put_zeros(char *text, int64_t n)
{
    memset(text, '0', (size_t) n);
    return (size_t) n;
}

/* 1.5e+300 */
static size_t write_scientific(char *text, const decimal *d)
{
    size_t at = 0;

    text[at++] = d->digits[0];
    if (d->n > 1) {
        text[at++] = '.';
        memcpy(text + at, d->digits + 1, d->n - 1);
        at += d->n - 1;
    }
    text[at++] = 'e';
    if (d->scale > 0)
        text[at++] = '+';
    return at + mo_number_write_int(text + at, d->scale - 1);
}

/* The position of the point follows ECMAScript and RFC 8785. */
static size_t write_decimal(char *text, const decimal *d)
{
    int64_t n = (int64_t) d->n, scale = d->scale;
    size_t at = 0, whole;

    if (scale > 21 || scale <= -6)
        return write_scientific(text, d);
    if (scale >= n) {
        memcpy(text, d->digits, d->n);
        return d->n + put_zeros(text + n, scale - n);
    }
    if (scale > 0) {
        whole = (size_t) scale;
        memcpy(text, d->digits, whole);
        at = whole;
        text[at++] = '.';
    } else {
        whole = 0;
        text[at++] = '0';
        text[at++] = '.';
        at += put_zeros(text + at, -scale);
    }
    memcpy(text + at, d->digits + whole, d->n - whole);
    return at + d->n - whole;
}

size_t mo_number_write_double(char *text, double value)
{
    decimal d;
    size_t at = 0;

    assert(isfinite(value));
    if (fabs(value) < (double) max_exact && value == (double) (int64_t) value)
        return mo_number_write_int(text, (int64_t) value);
    if (value < 0) {
        text[at++] = '-';
        value = -value;
    }
    if (!short_decimal(&d, value))
        shortest_decimal(&d, value);
    return at + write_decimal(text + at, &d);
}

static bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* The rest of the text to parse, without white space around it. */
typedef struct cursor {
    const char *at, *end;
} cursor;

static cursor trimmed(const char *text, size_t length)
{
    cursor c = { text, text + length };

    while (c.at < c.end && is_space(*c.at))
        c.at++;
    while (c.at < c.end && is_space(c.end[-1]))
        c.end--;
    return c;
}

static bool take(cursor *c, char wanted)
{
    if (c->at == c->end || *c->at != wanted)
        return false;
    c->at++;
    return true;
}

static bool take_sign(cursor *c)
{
    return take(c, '-') ? true : (take(c, '+'), false);
}

mo_number_fault mo_number_read_int(const char *text, size_t length,
                                   int64_t *value)
{
    cursor c = trimmed(text, length);
    bool negative = take_sign(&c), fits = true;
    uint64_t limit = (uint64_t) INT64_MAX + negative, sum = 0;

    if (c.at == c.end)
        return MO_NUMBER_INVALID;
    for (; c.at < c.end; c.at++) {
        unsigned digit;

        if (!is_digit(*c.at))
            return MO_NUMBER_INVALID;
        digit = (unsigned) (*c.at - '0');
        if (sum > (limit - digit) / 10)
            fits = false;
        else
            sum = sum * 10 + digit;
    }
    if (!fits)
        return MO_NUMBER_RANGE;
    /* Negated first: -2^63 has no positive. */
    *value = negative ? (int64_t) (0 - sum) : (int64_t) sum;
    return MO_NUMBER_OK;
}

/* A decimal while it is scanned: 0.d1d2... * 10^scale, where head is the number
 * made of the first n_head of these digits. */
typedef struct scan {
    const char *digits, *digits_end; /* including the point */
    uint64_t head;
    int n_head;
    bool whole; /* no digit but 0 is beyond head */
    int64_t scale;
} scan;

enum { MAX_HEAD = 19 }; /* 19 digits fit into 64 bits */

static void scan_digit(scan *s, char c, bool behind_point)
{
    if (s->n_head == 0 && c == '0') {
        s->scale -= behind_point;
        return;
    }
    if (s->n_head < MAX_HEAD) {
        s->head = s->head * 10 + (unsigned) (c - '0');
        s->n_head++;
    } else if (c != '0') {
        s->whole = false;
    }
    s->scale += !behind_point;
}

static bool scan_mantissa(scan *s, cursor *c)
{
    bool behind_point = false, any = false;

    *s = (scan){ .digits = c->at, .whole = true };
    for (; c->at < c->end; c->at++) {
        if (is_digit(*c->at)) {
            scan_digit(s, *c->at, behind_point);
            any = true;
        } else if (*c->at == '.' && !behind_point) {
            behind_point = true;
        } else {
            break;
        }
    }
    s->digits_end = c->at;
    return any;
}

static bool scan_exponent(scan *s, cursor *c)
{
    /* Larger than the scale of any text that fits into memory, and small
     * enough to be added to it. */
    const int64_t enough = INT64_MAX / 4;
    int64_t exponent = 0;
    bool negative;

    if (!take(c, 'e') && !take(c, 'E'))
        return true;
    negative = take_sign(c);
    if (c->at == c->end)
        return false;
    for (; c->at < c->end && is_digit(*c->at); c->at++)
        if (exponent < enough / 10)
            exponent = exponent * 10 + (*c->at - '0');
    s->scale += negative ? -exponent : exponent;
    return true;
}

static double value_of(const scan *s)
{
    int64_t exponent = s->scale - s->n_head;
    char digits[MAX_DIGITS + 32];
    size_t n = 0;
    bool rest = false;

    if (s->n_head == 0)
        return 0;
    if (EXACT && s->whole && s->head <= max_exact && exponent >= -MAX_POWER &&
        exponent <= MAX_POWER)
        return exponent < 0 ? (double) s->head / powers[-exponent]
                            : (double) s->head * powers[exponent];
    for (const char *at = s->digits; at < s->digits_end; at++) {
        if (*at == '.' || (n == 0 && *at == '0'))
            continue;
        if (n < MAX_DIGITS)
            digits[n++] = *at;
        else
            rest |= *at != '0';
    }
    if (rest)
        digits[n++] = '1';
    return nearest_double(digits, n, s->scale);
}

static bool is_word(const cursor *c, const char *word)
{
    size_t n = strlen(word);

    if ((size_t) (c->end - c->at) != n)
        return false;
    for (size_t i = 0; i < n; i++)
        if ((c->at[i] | 0x20) != word[i])
            return false;
    return true;
}

mo_number_fault mo_number_read_double(const char *text, size_t length,
                                      double *value)
{
    cursor c = trimmed(text, length);
    bool negative = take_sign(&c);
    double magnitude;
    scan s;

    if (is_word(&c, "inf") || is_word(&c, "infinity") || is_word(&c, "nan"))
        return MO_NUMBER_RANGE;
    if (!scan_mantissa(&s, &c) || !scan_exponent(&s, &c) || c.at != c.end)
        return MO_NUMBER_INVALID;
    magnitude = value_of(&s);
    if (!isfinite(magnitude))
        return MO_NUMBER_RANGE;
    *value = negative ? -magnitude : magnitude;
    return MO_NUMBER_OK;
}
