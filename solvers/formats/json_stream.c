/* SPDX-License-Identifier: Apache-2.0 */
#include "solvers/formats/json_stream.h"

#include <limits.h>
#include <stdint.h>
#include <string.h>

#include "base/utf8.h"

static void skip_space(mo_solfmt_reader *r)
{
    while (*r->at == ' ' || *r->at == '\n' || *r->at == '\t' || *r->at == '\r')
        r->at++;
}

/* Lines are counted only for an error. */
static mo_status fail_at_line(mo_solfmt_reader *r, const char *text,
                              mo_error *err)
{
    int line = 1;

    for (const char *at = r->begin; at < r->at; at++)
        line += *at == '\n' && line < INT_MAX;
    return mo_fail_at(err, MO_E_SYNTAX, r->file, line, "%s%s", text,
                      r->at == r->end ? "; the file stops here: was it cut off?"
                                      : "");
}

/* Consumes a mark, and blanks before it. */
static bool accept_char(mo_solfmt_reader *r, char mark)
{
    skip_space(r);
    if (*r->at != mark)
        return false;
    r->at++;
    return true;
}

static bool parse_hex4(mo_solfmt_reader *r, uint32_t *code)
{
    *code = 0;
    for (int i = 0; i < 4; i++) {
        static const char digits[] = "0123456789abcdef0123456789ABCDEF";
        const char *digit = *r->at ? strchr(digits, *r->at) : NULL;

        if (!digit)
            return false;
        *code = *code << 4 | (uint32_t) ((digit - digits) % 16);
        r->at++;
    }
    return true;
}

/* Parses after \u. Surrogates follow each other. */
static bool parse_code_point(mo_solfmt_reader *r, uint32_t *code)
{
    uint32_t low;

    if (!parse_hex4(r, code) || *code == 0)
        return false;
    if (*code < 0xd800 || *code > 0xdfff)
        return true;
    if (*code > 0xdbff || r->at[0] != '\\' || r->at[1] != 'u')
        return false;
    r->at += 2;
    if (!parse_hex4(r, &low) || low < 0xdc00 || low > 0xdfff)
        return false;
    *code = 0x10000 + ((*code - 0xd800) << 10) + (low - 0xdc00);
    return true;
}

/* Parses after a backslash; the output is never longer than the input. */
static bool parse_escape(mo_solfmt_reader *r, char **to)
{
    static const char names[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
    char name = *r->at;
    const char *found = name ? strchr(names, name) : NULL;
    uint32_t code;

    if (found) {
        r->at++;
        *(*to)++ = meant[found - names];
        return true;
    }
    if (name != 'u')
        return false;
    r->at++;
    if (!parse_code_point(r, &code))
        return false;
    *to += mo_utf8_encode(*to, code);
    return true;
}

mo_status mo_json_stream_string(mo_solfmt_reader *r, mo_solfmt_token *text,
                                mo_error *err)
{
    char *to;

    if (!accept_char(r, '"'))
        return fail_at_line(r, "no string where one should be", err);
    text->at = to = r->at;
    while (*r->at != '"') {
        if ((unsigned char) *r->at < ' ')
            return fail_at_line(r, "a string that does not end in its line",
                                err);
        if (*r->at != '\\') {
            *to++ = *r->at++;
            continue;
        }
        r->at++;
        if (!parse_escape(r, &to))
            return fail_at_line(r, "a broken escape in a string", err);
    }
    r->at++;
    text->length = (size_t) (to - text->at);
    return MO_OK;
}

mo_status mo_json_stream_number(mo_solfmt_reader *r, double *value,
                                mo_error *err)
{
    mo_solfmt_token word;

    skip_space(r);
    word.at = r->at;
    word.length = strcspn(r->at, ",]} \t\r\n");
    if (!mo_solfmt_token_number(&word, value))
        return fail_at_line(r, "no number where one should be", err);
    r->at += word.length;
    return MO_OK;
}

mo_status mo_json_stream_object(mo_solfmt_reader *r,
                                mo_json_stream_item *member, void *state,
                                mo_error *err)
{
    mo_status status = MO_OK;
    mo_solfmt_token key;

    if (!accept_char(r, '{'))
        return fail_at_line(r, "no object where one should be", err);
    if (accept_char(r, '}'))
        return MO_OK;
    do {
        status = mo_json_stream_string(r, &key, err);
        if (status == MO_OK && !accept_char(r, ':'))
            status = fail_at_line(r, "no ':' behind a key", err);
        if (status == MO_OK)
            status = member(r, &key, state, err);
    } while (status == MO_OK && accept_char(r, ','));
    if (status == MO_OK && !accept_char(r, '}'))
        status = fail_at_line(r, "neither ',' nor '}' behind a member", err);
    return status;
}

mo_status mo_json_stream_array(mo_solfmt_reader *r, mo_json_stream_item *item,
                               void *state, mo_error *err)
{
    static const mo_solfmt_token no_key = { 0 };
    mo_status status;

    if (!accept_char(r, '['))
        return fail_at_line(r, "no array where one should be", err);
    if (accept_char(r, ']'))
        return MO_OK;
    do
        status = item(r, &no_key, state, err);
    while (status == MO_OK && accept_char(r, ','));
    if (status == MO_OK && !accept_char(r, ']'))
        status = fail_at_line(r, "neither ',' nor ']' behind an item", err);
    return status;
}

static mo_status skip_word(mo_solfmt_reader *r, mo_error *err)
{
    static const char *const words[] = { "true", "false", "null" };
    double ignored;

    for (int i = 0; i < 3; i++)
        if (mo_solfmt_has_prefix(r->at, words[i])) {
            r->at += strlen(words[i]);
            return MO_OK;
        }
    return mo_json_stream_number(r, &ignored, err);
}

/* state: number of open brackets. */
static mo_status skip_value(mo_solfmt_reader *r, const mo_solfmt_token *key,
                            void *state, mo_error *err)
{
    int depth = *(int *) state + 1;
    mo_solfmt_token ignored;

    (void) key;
    skip_space(r);
    if (depth > MO_JSON_STREAM_DEPTH)
        return fail_at_line(r, "brackets nested too deeply", err);
    switch (*r->at) {
    case '{':
        return mo_json_stream_object(r, skip_value, &depth, err);
    case '[':
        return mo_json_stream_array(r, skip_value, &depth, err);
    case '"':
        return mo_json_stream_string(r, &ignored, err);
    default:
        return skip_word(r, err);
    }
}

mo_status mo_json_stream_skip(mo_solfmt_reader *r, mo_error *err)
{
    int depth = 0;

    return skip_value(r, NULL, &depth, err);
}

mo_status mo_json_stream_end(mo_solfmt_reader *r, mo_error *err)
{
    skip_space(r);
    return r->at == r->end ? MO_OK
                           : fail_at_line(r, "text behind the document", err);
}
