/* SPDX-License-Identifier: Apache-2.0 */
#include "base/out.h"

#include <stdbool.h>
#include <string.h>

#include "base/utf8.h"

/*
 * Most text is a name that needs no escape.  So both writers look at it eight
 * bytes at a time first and copy it whole when nothing is special in it.
 *
 * Otherwise they copy bytes as long as these mean themselves, deal with the
 * character behind them, and go on.  A table says which those are; beyond ASCII
 * every character has to prove itself.
 */
enum { XML = 1, JSON = 2, BOTH = XML | JSON };

#define BOTH_4  BOTH, BOTH, BOTH, BOTH
#define BOTH_32 BOTH_4, BOTH_4, BOTH_4, BOTH_4, BOTH_4, BOTH_4, BOTH_4, BOTH_4

/* For each byte, who has to look at it. */
static const unsigned char special[256] = {
    BOTH_32,       ['"'] = BOTH,     ['&'] = XML, ['<'] = XML, ['>'] = XML,
    ['\\'] = JSON, [0x80] = BOTH_32, BOTH_32,     BOTH_32,     BOTH_32,
};

static const char replacement[] = "\xef\xbf\xbd"; /* U+FFFD */

/* The byte c in all eight places of a word. */
#define EIGHT(c) (UINT64_C(0x0101010101010101) * (c))

/* Not 0 if and only if a byte of the word is. */
static inline uint64_t has_zero(uint64_t word)
{
    return (word - EIGHT(0x01)) & ~word & EIGHT(0x80);
}

/* Is there a byte in the word that either format has to look at?  '"' and '&'
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

/* Copies up to the next special byte, which it returns. */
static const char *put_plain(mo_out *out, const char *text, int format)
{
    for (;;) {
        char *at = out->at, *end = out->end;

        while (at < end && !is_special(*text, format))
            *at++ = *text++;
        out->at = at;
        if (is_special(*text, format))
            return text;
        mo_out_char(out, *text++); /* makes room for the next ones */
    }
}

/* A character beyond ASCII, or U+FFFD for what is none.  Returns its size. */
static size_t put_wide(mo_out *out, const char *text)
{
    uint32_t code;
    size_t n = mo_utf8_decode(text, 4, &code);

    if (n == 0) {
        mo_out_text(out, replacement);
        return 1;
    }
    /* XML has no place for these two, and nobody else a use. */
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

/* White space by number, for a reader turns it into blanks in an attribute.
 * XML 1.0 cannot hold the other control characters in any form. */
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

static void put_json_escape(mo_out *out, char c)
{
    static const char letters[] = "\"\\\b\f\n\r\t", names[] = "\"\\bfnrt";
    const char *letter = strchr(letters, c);

    if (letter) {
        mo_out_char(out, '\\');
        mo_out_char(out, names[letter - letters]);
    } else {
        mo_out_printf(out, "\\u%04x", (unsigned) c);
    }
}

static void escape_json(mo_out *out, const char *text)
{
    for (;;) {
        text = put_plain(out, text, JSON);
        if (*text == '\0')
            return;
        if (is_wide(*text))
            text += put_wide(out, text);
        else
            put_json_escape(out, *text++);
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
