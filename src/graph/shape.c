/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/shape.h"

#include <ctype.h>
#include <string.h>

#include "base/array.h"
#include "base/number.h"
#include "graph/dtype.h"

/* Many times the longest shape; longer texts are invalid. */
enum { MAX_LENGTH = 4096 };

typedef struct span {
    const char *text;
    size_t length;
} span;

static span trim_blanks(span s)
{
    while (s.length > 0 && isspace((unsigned char) s.text[0])) {
        s.text++;
        s.length--;
    }
    while (s.length > 0 && isspace((unsigned char) s.text[s.length - 1]))
        s.length--;
    return s;
}

static bool is_text(span s, const char *text)
{
    return s.length == strlen(text) && memcmp(s.text, text, s.length) == 0;
}

/* Strips the brackets off "[...]" or "(...)"; false when one is missing. */
static bool strip_pair(span *s, char open, char close)
{
    bool opens = s->length > 0 && s->text[0] == open;
    bool closes = s->length > 0 && s->text[s->length - 1] == close;

    if (opens != closes || (opens && s->length < 2))
        return false;
    if (opens)
        *s = trim_blanks((span){ s->text + 1, s->length - 2 });
    return true;
}

/* "torch.Size([1, 64])" -> "1, 64"; without brackets nothing changes. */
static bool strip_brackets(span *s)
{
    static const char torch[] = "torch.Size";
    size_t prefix = sizeof torch - 1;

    if (s->length > prefix && memcmp(s->text, torch, prefix) == 0) {
        *s = trim_blanks((span){ s->text + prefix, s->length - prefix });
        if (s->length == 0 || s->text[0] != '(')
            return false;
    }
    return strip_pair(s, '(', ')') && strip_pair(s, '[', ']');
}

static bool is_count(span s)
{
    int64_t value;

    return mo_number_read_int(s.text, s.length, &value) == MO_NUMBER_OK &&
           value >= 0;
}

/* "1..8", "..8", "1..", ".." */
static bool is_range(span s)
{
    span low, high;
    size_t at = 0;

    while (at + 1 < s.length && memcmp(s.text + at, "..", 2) != 0)
        at++;
    if (at + 1 >= s.length)
        return false;
    low = (span){ s.text, at };
    high = (span){ s.text + at + 2, s.length - at - 2 };
    return (low.length == 0 || is_count(low)) &&
           (high.length == 0 || is_count(high));
}

mo_shape_fault mo_shape_read_dim(const char *text, size_t length, int64_t *dim)
{
    span s = trim_blanks((span){ text, length });
    int64_t value = 0;

    switch (mo_number_read_int(s.text, s.length, &value)) {
    case MO_NUMBER_RANGE:
        return MO_SHAPE_RANGE;
    case MO_NUMBER_OK:
        *dim = value < 0 ? MO_DYNAMIC : value;
        return value < 0 ? MO_SHAPE_DYNAMIC : MO_SHAPE_OK;
    case MO_NUMBER_INVALID:
        break;
    }
    if (!is_text(s, "?") && !is_range(s))
        return MO_SHAPE_INVALID;
    *dim = MO_DYNAMIC;
    return MO_SHAPE_DYNAMIC;
}

/* Reads the dims of s, which is not empty. */
static mo_shape_fault read_dims(span s, mo_shape *shape)
{
    const char *end = s.text + s.length;
    mo_shape_fault worst = MO_SHAPE_OK;
    bool has_comma = memchr(s.text, ',', s.length) != NULL;
    char separator = !has_comma && memchr(s.text, 'x', s.length) ? 'x' : ',';

    for (const char *at = s.text; at <= end;) {
        const char *stop = memchr(at, separator, (size_t) (end - at));
        mo_shape_fault fault;

        stop = stop ? stop : end;
        if (shape->rank == MO_MAX_RANK)
            return MO_SHAPE_RANGE;
        fault = mo_shape_read_dim(at, (size_t) (stop - at),
                                  &shape->dims[shape->rank++]);
        if (fault == MO_SHAPE_INVALID || fault == MO_SHAPE_RANGE)
            return fault;
        if (fault == MO_SHAPE_DYNAMIC)
            worst = MO_SHAPE_DYNAMIC;
        at = stop + 1;
    }
    return worst;
}

mo_shape_fault mo_shape_read(const char *text, size_t length, mo_shape *shape)
{
    span s = { text, length };
    mo_shape read = { 0 };
    mo_shape_fault fault = MO_SHAPE_OK;

    if (length > MAX_LENGTH)
        return MO_SHAPE_INVALID;
    s = trim_blanks(s);
    if (is_text(s, "...")) {
        shape->rank = MO_DYNAMIC;
        return MO_SHAPE_DYNAMIC;
    }
    if (!strip_brackets(&s))
        return MO_SHAPE_INVALID;
    /* Python writes a tuple of one as "(3,)". */
    if (s.length > 1 && s.text[s.length - 1] == ',')
        s = trim_blanks((span){ s.text, s.length - 1 });
    if (s.length > 0)
        fault = read_dims(s, &read);
    if (fault == MO_SHAPE_INVALID || fault == MO_SHAPE_RANGE)
        return fault;
    if (!mo_shape_fits(&read))
        return MO_SHAPE_RANGE;
    *shape = read;
    return fault;
}

bool mo_shape_fits(const mo_shape *shape)
{
    int64_t elements = 1;

    for (int i = 0; i < shape->rank; i++)
        if (shape->dims[i] > 1 &&
            (!mo_int64_mul(elements, shape->dims[i], &elements) ||
             elements > MO_MAX_ELEMENTS))
            return false;
    return true;
}

bool mo_shape_is_static(const mo_shape *shape)
{
    for (int i = 0; i < shape->rank; i++)
        if (shape->dims[i] < 0)
            return false;
    return shape->rank >= 0;
}

bool mo_shape_equal(const mo_shape *a, const mo_shape *b)
{
    if (a->rank != b->rank)
        return false;
    for (int i = 0; i < a->rank; i++)
        if (a->dims[i] != b->dims[i])
            return false;
    return true;
}

bool mo_shape_equal_but(const mo_shape *a, const mo_shape *b, int axis)
{
    mo_shape other = *b;

    if (a->rank != b->rank)
        return false;
    other.dims[axis] = a->dims[axis];
    return mo_shape_equal(a, &other);
}

size_t mo_shape_write(const mo_shape *shape, char *text)
{
    size_t length = 0;

    for (int i = 0; i < shape->rank; i++) {
        if (i > 0)
            text[length++] = ',';
        length += mo_number_write_int(text + length, shape->dims[i]);
    }
    return length;
}

int64_t mo_shape_product(const int64_t *dims, int n)
{
    int64_t product = 1;

    for (int d = 0; d < n; d++)
        product *= dims[d];
    return product;
}

int64_t mo_shape_elements(const mo_shape *shape)
{
    return mo_shape_product(shape->dims, shape->rank);
}

int64_t mo_shape_bytes(const mo_shape *shape, const char *dtype)
{
    int bits = mo_dtype_bits(dtype);
    /* Elements of 3 or 6 bits fill no byte; they come in groups of 3 bytes. */
    int unit = bits % 3 == 0 ? 24 : 8;
    int64_t total;

    if (bits < 0 || !mo_int64_mul(mo_shape_elements(shape), bits, &total) ||
        !mo_int64_add(total, unit - 1, &total))
        return -1;
    return total / unit * (unit / 8);
}
