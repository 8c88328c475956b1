/* SPDX-License-Identifier: Apache-2.0 */
#include "base/utf8.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* Returns the length that the first byte of a character announces, 0 if
 * invalid. */
static size_t announced_length(unsigned char lead, uint32_t *bits,
                               uint32_t *least)
{
    if (lead < 0x80) {
        *bits = lead;
        *least = 0;
        return 1;
    }
    if ((lead & 0xe0) == 0xc0) {
        *bits = lead & 0x1f;
        *least = 0x80;
        return 2;
    }
    if ((lead & 0xf0) == 0xe0) {
        *bits = lead & 0x0f;
        *least = 0x800;
        return 3;
    }
    if ((lead & 0xf8) == 0xf0) {
        *bits = lead & 0x07;
        *least = 0x10000;
        return 4;
    }
    return 0;
}

size_t mo_utf8_decode(const char *text, size_t length, uint32_t *code)
{
    const unsigned char *byte = (const unsigned char *) text;
    uint32_t bits, least;
    size_t n;

    if (length == 0)
        return 0;
    n = announced_length(byte[0], &bits, &least);
    if (n == 0 || n > length)
        return 0;
    for (size_t i = 1; i < n; i++) {
        if ((byte[i] & 0xc0) != 0x80)
            return 0;
        bits = bits << 6 | (byte[i] & 0x3f);
    }
    if (bits < least || bits > 0x10ffff || (bits >= 0xd800 && bits <= 0xdfff))
        return 0;
    *code = bits;
    return n;
}

size_t mo_utf8_encode(char *text, uint32_t code)
{
    static const unsigned char lead[] = { 0, 0, 0xc0, 0xe0, 0xf0 };
    size_t n = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;

    for (size_t i = n; i-- > 1;) {
        text[i] = (char) (0x80 | (code & 0x3f));
        code >>= 6;
    }
    text[0] = (char) (lead[n] | code);
    return n;
}

/* The C1 controls, too: some terminals interpret U+009B as an escape. */
static bool is_control(uint32_t code)
{
    return code < 0x20 || (code >= 0x7f && code < 0xa0);
}

/* Characters that end a line or change its direction, so that text behind them
 * is displayed elsewhere or reordered. */
static bool is_layout(uint32_t code)
{
    return (code >= 0x2028 && code <= 0x202e) ||
           (code >= 0x2066 && code <= 0x2069);
}

/* Escapes the character at text into piece; returns the bytes consumed. */
static size_t show_one(char piece[8], const char *text)
{
    uint32_t code;
    size_t n = mo_utf8_decode(text, 4, &code);

    if (n > 0 && !is_control(code) && !is_layout(code)) {
        memcpy(piece, text, n);
        piece[n] = '\0';
        return n;
    }
    if (*text == '\n' || *text == '\t')
        strcpy(piece, *text == '\n' ? "\\n" : "\\t");
    else
        snprintf(piece, 8, "\\x%02x", (unsigned) (unsigned char) *text);
    return 1;
}

char *mo_utf8_escape_controls(char *to, size_t size, const char *text)
{
    static const char dots[] = "...";
    size_t used = 0, cut = 0;

    if (size == 0)
        return to;
    while (*text) {
        char piece[8];
        size_t taken = show_one(piece, text), n = strlen(piece);

        if (used + n >= size) {
            size_t room = size - 1 - cut;

            used = cut;
            n = room < sizeof dots - 1 ? room : sizeof dots - 1;
            memcpy(to + used, dots, n);
            used += n;
            break;
        }
        memcpy(to + used, piece, n);
        used += n;
        text += taken;
        /* The last position where the dots still fit. */
        if (used + sizeof dots <= size)
            cut = used;
    }
    to[used] = '\0';
    return to;
}

typedef struct range {
    uint32_t first, last;
} range;

static bool is_in(const range *ranges, size_t n, uint32_t code)
{
    for (size_t i = 0; i < n; i++)
        if (code >= ranges[i].first && code <= ranges[i].last)
            return true;
    return false;
}

static int columns_of(uint32_t code)
{
    static const range marks[] = { { 0x300, 0x36f },
                                   { 0x200b, 0x200f },
                                   { 0x20d0, 0x20ff },
                                   { 0xfe00, 0xfe0f } };
    static const range wide[] = { { 0x1100, 0x115f },   { 0x2e80, 0xa4cf },
                                  { 0xac00, 0xd7a3 },   { 0xf900, 0xfaff },
                                  { 0xfe30, 0xfe6f },   { 0xff00, 0xff60 },
                                  { 0xffe0, 0xffe6 },   { 0x1f300, 0x1f64f },
                                  { 0x1f680, 0x1faff }, { 0x20000, 0x3fffd } };

    if (is_in(marks, sizeof marks / sizeof *marks, code))
        return 0;
    return is_in(wide, sizeof wide / sizeof *wide, code) ? 2 : 1;
}

int mo_utf8_columns(const char *text)
{
    int columns = 0;

    while (*text) {
        uint32_t code = 0;
        size_t n = mo_utf8_decode(text, 4, &code);

        columns += n > 0 ? columns_of(code) : 1;
        text += n > 0 ? n : 1;
    }
    return columns;
}
