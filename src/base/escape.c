#include "base/out.h"

#include <stdbool.h>
#include <string.h>

#include "base/utf8.h"

/*
 * Most text needs no escape.  So both writers copy the longest run of bytes
 * that mean themselves, deal with the character behind it, and go on.  A table
 * says which those are; beyond ASCII every character has to prove itself.
 */
enum { XML = 1, JSON = 2, BOTH = XML | JSON };

#define BOTH_4  BOTH, BOTH, BOTH, BOTH
#define BOTH_32 BOTH_4, BOTH_4, BOTH_4, BOTH_4, BOTH_4, BOTH_4, BOTH_4, BOTH_4

/* For each byte, who has to look at it. */
static const unsigned char special[256] = {
    BOTH_32,
    ['"'] = BOTH,
    ['&'] = XML,
    ['<'] = XML,
    ['>'] = XML,
    ['\\'] = JSON,
    [0x80] = BOTH_32, BOTH_32, BOTH_32, BOTH_32,
};

static const char replacement[] = "\xef\xbf\xbd";   /* U+FFFD */

static const char *put_plain(mo_out *out, const char *text, int format)
{
    const char *end = text;

    while (!(special[(unsigned char) *end] & format))
        end++;
    mo_out_bytes(out, text, (size_t) (end - text));
    return end;
}

/* A character beyond ASCII, or U+FFFD for what is none. Returns its size. */
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
static const char *xml_escape(char c)
{
    switch (c) {
    case '&':
        return "&amp;";
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '"':
        return "&quot;";
    case '\t':
        return "&#9;";
    case '\n':
        return "&#10;";
    case '\r':
        return "&#13;";
    default:
        return replacement;
    }
}

void mo_out_xml(mo_out *out, const char *text)
{
    for (;;) {
        text = put_plain(out, text, XML);
        if (*text == '\0')
            return;
        if (is_wide(*text))
            text += put_wide(out, text);
        else
            mo_out_text(out, xml_escape(*text++));
    }
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

void mo_out_json(mo_out *out, const char *text)
{
    mo_out_char(out, '"');
    for (;;) {
        text = put_plain(out, text, JSON);
        if (*text == '\0')
            break;
        if (is_wide(*text))
            text += put_wide(out, text);
        else
            put_json_escape(out, *text++);
    }
    mo_out_char(out, '"');
}
