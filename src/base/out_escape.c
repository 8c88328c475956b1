/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Escaping of text in XML and JSON output.
 *
 * Most texts are names that need no escape. So both writers scan eight bytes
 * at a time first and copy the whole text when none of them is special.
 *
 * Otherwise they copy runs of plain bytes and escape the character behind
 * each. A table marks the special bytes; characters beyond ASCII are validated
 * as UTF-8.
 */
#include "base/out.h"

#include <stdbool.h>
#include <string.h>

#include "base/utf8.h"

enum { XML = 1, JSON = 2, BOTH = XML | JSON };

#define BOTH_4  BOTH, BOTH, BOTH, BOTH
#define BOTH_32 BOTH_4, BOTH_4, BOTH_4, BOTH_4, BOTH_4, BOTH_4, BOTH_4, BOTH_4

/* For each byte, the formats in which it is special. */
static const unsigned char special[256] = {
    BOTH_32,       ['"'] = BOTH,     ['&'] = XML, ['<'] = XML, ['>'] = XML,
    ['\\'] = JSON, [0x80] = BOTH_32, BOTH_32,     BOTH_32,     BOTH_32,
};

static const char replacement[] = "\xef\xbf\xbd"; /* U+FFFD */

/* A word with the byte c in all eight places. */
#define EIGHT(c) (UINT64_C(0x0101010101010101) * (c))

/* Nonzero if and only if a byte of the word is 0. */
static inline uint64_t has_zero(uint64_t word)
{
    return (word - EIGHT(0x01)) & ~word & EIGHT(0x80);
}

/* Returns whether a byte of the word is special in either format. '"' and '&'
 * differ in one bit, as do '<' and '>'. */
static inline bool has_special(uint64_t word)
{
    uint64_t control_or_wide = ((word - EIGHT(0x20)) | word) & EIGHT(0x80);
    uint64_t quote_or_ampersand = has_zero((word | EIGHT(0x04)) ^ EIGHT('&'));
    uint64_t angle = has_zero((word | EIGHT(0x02)) ^ EIGHT('>'));
    uint64_t backslash = has_zero(word ^ EIGHT('\\'));

    return (control_or_wide | quote_or_ampersand | angle | backslash) != 0;
}

static inline uint64_t load(const char *text)
{
    uint64_t word;

    memcpy(&word, text, sizeof word);
    return word;
}

/* The last eight bytes may overlap those before. */
static bool is_plain(const char *text, size_t length)
{
    if (length < 8) {
        for (size_t i = 0; i < length; i++)
            if (special[(unsigned char) text[i]])
                return false;
        return true;
    }
    for (size_t i = 0; i < length - 8; i += 8)
        if (has_special(load(text + i)))
            return false;
    return !has_special(load(text + length - 8));
}

static bool is_special(char c, int format)
{
    return special[(unsigned char) c] & format;
}

/* Copies up to the next special byte and returns its address. */
static const char *put_plain(mo_out *out, const char *text, int format)
{
    for (;;) {
        char *at = out->at, *end = out->end;

        while (at < end && !is_special(*text, format))
            *at++ = *text++;
        out->at = at;
        if (is_special(*text, format))
            return text;
        mo_out_char(out, *text++); /* flushes the buffer, which makes space for
                                      the following ones */
    }
}

/* Copies a character beyond ASCII, or writes U+FFFD for an ill-formed one.
 * Returns its size in the input. */
static size_t put_wide(mo_out *out, const char *text)
{
    uint32_t code;
    size_t n = mo_utf8_decode(text, 4, &code);

    if (n == 0) {
        mo_out_text(out, replacement);
        return 1;
    }
    /* XML does not allow these two. */
    if (code == 0xfffe || code == 0xffff)
        mo_out_text(out, replacement);
    else
        mo_out_bytes(out, text, n);
    return n;
}

static bool is_wide(char c)
{
    return (unsigned char) c >= 0x80;
}

/* White space is written by number, since an XML parser turns it into blanks
 * in an attribute. XML 1.0 cannot represent the other control characters. */
static void put_xml_escape(mo_out *out, char c)
{
    switch (c) {
    case '&':
        mo_out_text(out, "&amp;");
        break;
    case '<':
        mo_out_text(out, "&lt;");
        break;
    case '>':
        mo_out_text(out, "&gt;");
        break;
    case '"':
        mo_out_text(out, "&quot;");
        break;
    case '\t':
        mo_out_text(out, "&#9;");
        break;
    case '\n':
        mo_out_text(out, "&#10;");
        break;
    case '\r':
        mo_out_text(out, "&#13;");
        break;
    default:
        mo_out_text(out, replacement);
    }
}

static void escape_xml(mo_out *out, const char *text)
{
    for (;;) {
        text = put_plain(out, text, XML);
        if (*text == '\0')
            return;
        if (is_wide(*text))
            text += put_wide(out, text);
        else
            put_xml_escape(out, *text++);
    }
}

void mo_out_xml(mo_out *out, const char *text)
{
    size_t length = strlen(text);

    if (is_plain(text, length))
        mo_out_bytes(out, text, length);
    else
        escape_xml(out, text);
}

static void escape_json(mo_out *out, const char *text)
{
    for (;;) {
        text = put_plain(out, text, JSON);
        if (*text == '\0')
            return;
        if (is_wide(*text))
            text += put_wide(out, text);
        else {
            char c = *text++;
            static const char letters[] = "\"\\\b\f\n\r\t",
                              names[] = "\"\\bfnrt";
            const char *letter = strchr(letters, c);

            if (letter) {
                mo_out_char(out, '\\');
                mo_out_char(out, names[letter - letters]);
            } else {
                mo_out_printf(out, "\\u%04x", (unsigned) c);
            }
        }
    }
}

void mo_out_json(mo_out *out, const char *text)
{
    size_t length = strlen(text);

    mo_out_char(out, '"');
    if (is_plain(text, length))
        mo_out_bytes(out, text, length);
    else
        escape_json(out, text);
    mo_out_char(out, '"');
}
