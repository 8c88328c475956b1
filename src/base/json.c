/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json.h"

#include <string.h>

#include "base/number.h"
#include "base/utf8.h"

enum { MAX_DEPTH = 32 };

/*
 * Recursive-descent parser, bounded by MAX_DEPTH. It serves to check a text
 * and, once that is done, to skip values: both read every byte once.
 */
typedef mo_json_cursor cursor;

static bool skip_value(cursor *c, int depth);

/* Notes the first fault, which is the innermost. */
static bool fail(cursor *c, const char *fault)
{
    if (!c->fault)
        c->fault = fault;
    return false;
}

static void skip_space(cursor *c)
{
    while (c->at < c->end && *c->at && strchr(" \t\n\r", *c->at))
        c->at++;
}

static bool take(cursor *c, char wanted)
{
    if (c->at == c->end || *c->at != wanted)
        return false;
    c->at++;
    return true;
}

/* The same with white space on both sides. */
static bool take_delimiter(cursor *c, char wanted)
{
    skip_space(c);
    if (!take(c, wanted))
        return false;
    skip_space(c);
    return true;
}

static bool skip_word(cursor *c, const char *word)
{
    size_t n = strlen(word);

    if ((size_t) (c->end - c->at) < n || memcmp(c->at, word, n) != 0)
        return false;
    c->at += n;
    return true;
}

static bool skip_digits(cursor *c)
{
    const char *first = c->at;

    while (c->at < c->end && *c->at >= '0' && *c->at <= '9')
        c->at++;
    return c->at > first;
}

static bool skip_number(cursor *c)
{
    bool valid;

    take(c, '-');
    valid =
        (take(c, '0') || skip_digits(c)) && (!take(c, '.') || skip_digits(c));
    if (valid && (take(c, 'e') || take(c, 'E'))) {
        if (!take(c, '-'))
            take(c, '+');
        valid = skip_digits(c);
    }
    return valid || fail(c, "no number where one should be");
}

static int hex_digit(char digit)
{
    if (digit >= '0' && digit <= '9')
        return digit - '0';
    digit |= 0x20;
    return digit >= 'a' && digit <= 'f' ? digit - 'a' + 10 : -1;
}

/* Reads the four digits behind \u. */
static bool take_hex(cursor *c, uint32_t *code)
{
    *code = 0;
    if (c->end - c->at < 4)
        return false;
    for (int i = 0; i < 4; i++) {
        int digit = hex_digit(*c->at++);

        if (digit < 0)
            return false;
        *code = *code << 4 | (uint32_t) digit;
    }
    return true;
}

/* Reads the second half of a surrogate pair, if one follows; else returns
 * U+FFFD, for an unpaired surrogate is no character. */
static uint32_t take_low_surrogate(cursor *c, uint32_t high)
{
    cursor ahead = *c;
    uint32_t low;

    if (high >= 0xdc00 || !skip_word(&ahead, "\\u") ||
        !take_hex(&ahead, &low) || low < 0xdc00 || low > 0xdfff)
        return 0xfffd;
    *c = ahead;
    return 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00);
}

/* Reads the rest of an escape behind the backslash. */
static bool take_escape(cursor *c, uint32_t *code)
{
    static const char names[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
    const char *name;

    if (take(c, 'u')) {
        if (!take_hex(c, code))
            return false;
        if (*code >= 0xd800 && *code <= 0xdfff)
            *code = take_low_surrogate(c, *code);
        return true;
    }
    if (c->at == c->end || *c->at == '\0')
        return false;
    name = strchr(names, *c->at++);
    if (!name)
        return false;
    *code = (unsigned char) meant[name - names];
    return true;
}

/* Reads one character of a string, which is not its closing quote. */
static bool take_character(cursor *c, uint32_t *code)
{
    size_t n;

    if (take(c, '\\'))
        return take_escape(c, code) || fail(c, "a broken escape in a string");
    if (c->at == c->end || (unsigned char) *c->at < 0x20)
        return fail(c, "a string that does not end in its line");
    n = mo_utf8_decode(c->at, (size_t) (c->end - c->at), code);
    c->at += n;
    return n > 0 || fail(c, "a string with bytes that are no UTF-8");
}

static bool skip_string(cursor *c)
{
    uint32_t code;

    if (!take(c, '"'))
        return fail(c, "no string where one should be");
    while (!take(c, '"'))
        if (!take_character(c, &code))
            return false;
    return true;
}

static bool skip_member(cursor *c, int depth)
{
    return skip_string(c) &&
           (take_delimiter(c, ':') || fail(c, "no ':' behind a key")) &&
           skip_value(c, depth);
}

/* Skips the opening bracket, the items behind it, and the closing one. */
static bool skip_items(cursor *c, char close, int depth)
{
    c->at++;
    if (depth > MAX_DEPTH)
        return fail(c, "brackets nested too deeply");
    skip_space(c);
    if (take(c, close))
        return true;
    do {
        if (!(close == '}' ? skip_member : skip_value)(c, depth))
            return false;
    } while (take_delimiter(c, ','));
    return take(c, close) ||
           fail(c, close == '}' ? "neither ',' nor '}' behind a member"
                                : "neither ',' nor ']' behind an item");
}

static bool skip_value(cursor *c, int depth)
{
    switch (c->at < c->end ? *c->at : '\0') {
    case '{':
        return skip_items(c, '}', depth + 1);
    case '[':
        return skip_items(c, ']', depth + 1);
    case '"':
        return skip_string(c);
    case 't':
        return skip_word(c, "true");
    case 'f':
        return skip_word(c, "false");
    case 'n':
        return skip_word(c, "null");
    default:
        return skip_number(c);
    }
}

bool mo_json_check(mo_json_cursor *c, const char *text, size_t length)
{
    *c = (cursor){ text, text + length, NULL };
    skip_space(c);
    if (c->at == c->end || *c->at != '{')
        return fail(c, "no object where one should be");
    if (!skip_value(c, 0))
        return false;
    skip_space(c);
    return c->at == c->end || fail(c, "text behind the document");
}

bool mo_json_is_object(const char *text, size_t length)
{
    cursor c;

    return mo_json_check(&c, text, length);
}

bool mo_json_is_text_array(const char *text, size_t length)
{
    cursor c = { text, text + length, NULL };

    if (!take_delimiter(&c, '['))
        return false;
    do {
        if (!skip_string(&c))
            return false;
    } while (take_delimiter(&c, ','));
    return take_delimiter(&c, ']') && c.at == c.end;
}

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char) (c | 0x20) : c;
}

/* Skips a string; returns whether it equals wanted once its escapes are
 * resolved, with any_case without regard to case. */
static bool skip_if_spelled(cursor *c, const char *wanted, bool any_case)
{
    bool same = true;

    take(c, '"');
    while (!take(c, '"')) {
        char spelled[4];
        uint32_t code;
        size_t n;

        if (!take_character(c, &code))
            return false;
        n = mo_utf8_encode(spelled, code);
        /* A NUL written as \u0000 is in no C string. */
        for (size_t i = 0; i < n && same; i++, wanted++)
            same = spelled[i] != '\0' &&
                   (spelled[i] == *wanted ||
                    (any_case && lower(spelled[i]) == lower(*wanted)));
    }
    return same && *wanted == '\0';
}

bool mo_json_open(mo_json_cursor *c, char bracket, const char *text,
                  size_t length)
{
    *c = (cursor){ text, text + length, NULL };
    return take_delimiter(c, bracket);
}

int mo_json_take_item(mo_json_cursor *c, mo_json_member *item)
{
    if (c->at == c->end || *c->at == ']')
        return 0;
    *item = (mo_json_member){ .value = c->at };
    if (!skip_value(c, 1))
        return -1;
    item->value_length = (size_t) (c->at - item->value);
    take_delimiter(c, ',');
    return 1;
}

int mo_json_take_member(mo_json_cursor *c, mo_json_member *member)
{
    const char *key;
    size_t key_length = 0;
    int taken;

    if (c->at == c->end || *c->at != '"')
        return 0;
    key = c->at + 1;
    if (skip_string(c))
        key_length = (size_t) (c->at - key) - 1;
    else
        key = NULL;
    if (!take_delimiter(c, ':'))
        return -1;
    taken = mo_json_take_item(c, member);
    member->key = key;
    member->key_length = key_length;
    return taken > 0 ? 1 : -1;
}

bool mo_json_key_is(const mo_json_member *member, const char *key)
{
    cursor c;

    if (!member->key)
        return false;
    c = (cursor){ member->key - 1, member->key + member->key_length + 1, NULL };
    return skip_if_spelled(&c, key, false);
}

const char *mo_json_find(const char *text, const char *key, size_t *length)
{
    cursor c;
    mo_json_member member;
    const char *value = NULL;
    int found = mo_json_open(&c, '{', text, strlen(text)) ? 1 : -1;

    while (found > 0 && (found = mo_json_take_member(&c, &member)) > 0)
        if (mo_json_key_is(&member, key)) {
            value = member.value;
            *length = member.value_length;
        }
    return found < 0 ? NULL : value;
}

bool mo_json_unescape(const char *string, size_t length, char *copy,
                      size_t *copy_length)
{
    cursor c = { string, string + length, NULL };
    char *to = copy;
    uint32_t code;

    while (c.at < c.end) {
        if (!take_character(&c, &code) || code == 0)
            return false;
        to += mo_utf8_encode(to, code);
    }
    *copy_length = (size_t) (to - copy);
    return true;
}

int mo_json_value_ints(const char *value, size_t length, int64_t *values,
                       int max)
{
    int n = 0;
    cursor c = { value, value + length, NULL };

    if (*value == '"' || *value == '[') {
        c.at++;
        c.end--;
    }
    skip_space(&c);
    if (c.at == c.end)
        return 0;
    for (;;) {
        const char *comma = memchr(c.at, ',', (size_t) (c.end - c.at));
        const char *end = comma ? comma : c.end;
        int64_t number;

        if (mo_number_read_int(c.at, (size_t) (end - c.at), &number))
            return -1;
        if (n < max)
            values[n] = number;
        n++;
        if (!comma)
            return n;
        c.at = comma + 1;
    }
}

/* Returns whether the value is word or digit, bare or as a string. */
static bool is_either(const char *value, size_t length, const char *word,
                      char digit)
{
    cursor c = { value, value + length, NULL };

    if (*value == '"')
        return (length == 3 && value[1] == digit) ||
               skip_if_spelled(&c, word, true);
    return (length == 1 && *value == digit) ||
           (length == strlen(word) && memcmp(value, word, length) == 0);
}

int mo_json_value_bool(const char *value, size_t length)
{
    if (is_either(value, length, "true", '1'))
        return 1;
    return is_either(value, length, "false", '0') ? 0 : -1;
}
