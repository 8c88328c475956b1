/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/op_attrs.h"

#include <limits.h>
#include <math.h>
#include <string.h>

#include "base/json.h"
#include "base/minmax.h"
#include "base/number.h"

/* Sets *text to the string between its quotes without its escapes: itself where
 * there are none, else a copy in the arena; NULL when it contains a zero byte.
 * Returns false when memory is exhausted. */
static bool unescape(const char *string, size_t length, mo_arena *arena,
                     const char **text, size_t *text_length)
{
    char *copy;

    *text = string;
    *text_length = length;
    if (!memchr(string, '\\', length))
        return true;
    copy = mo_arena_alloc(arena, length);
    if (!copy)
        return false;
    *text = mo_json_unescape(string, length, copy, text_length) ? copy : NULL;
    return true;
}

static mo_attr_kind kind_of(const char *value)
{
    switch (*value) {
    case '"':
        return MO_ATTR_STRING;
    case '[':
        return MO_ATTR_LIST;
    case 't':
    case 'f':
        return MO_ATTR_BOOL;
    case 'n':
    case '{':
        return MO_ATTR_OTHER;
    default:
        return MO_ATTR_NUMBER;
    }
}

/* Includes infinities, which frameworks write although JSON has no numbers for
 * them. */
static double read_number(const char *text, size_t length)
{
    size_t sign = length > 0 && *text == '-';
    double number = NAN;

    if (length == sign + 3 && memcmp(text + sign, "inf", 3) == 0)
        return sign ? -INFINITY : INFINITY;
    mo_number_read_double(text, length, &number);
    return number;
}

static bool parse_ints(const mo_json_member *member, mo_arena *arena,
                       mo_attr *attr)
{
    int64_t *ints;
    int n = mo_json_value_ints(member->value, member->value_length, NULL, 0);

    attr->n_ints = n;
    if (n <= 0)
        return true;
    attr->ints = ints = mo_arena_array(arena, (size_t) n, sizeof *ints);
    if (!ints)
        return false;
    mo_json_value_ints(member->value, member->value_length, ints, n);
    return true;
}

static bool parse_member(const mo_json_member *member, mo_arena *arena,
                         mo_attr *attr)
{
    attr->kind = kind_of(member->value);
    attr->text = member->value;
    attr->length = member->value_length;
    attr->boolean =
        (int8_t) mo_json_value_bool(member->value, member->value_length);
    if (attr->kind == MO_ATTR_STRING) {
        attr->text++;
        attr->length -= 2;
        if (!unescape(attr->text, attr->length, arena, &attr->string,
                      &attr->string_length))
            return false;
    }
    attr->number = read_number(attr->text, attr->length);
    return (!member->key || unescape(member->key, member->key_length, arena,
                                     &attr->key, &attr->key_length)) &&
           parse_ints(member, arena, attr);
}

/* Returns the number of members, 0 for a text that is not an object. */
static int count_members(const char *text)
{
    mo_json_cursor cursor;
    mo_json_member member;
    int n = 0;
    int found = mo_json_open(&cursor, '{', text, strlen(text)) ? 1 : -1;

    while (found > 0 && n < INT_MAX &&
           (found = mo_json_take_member(&cursor, &member)) > 0)
        n++;
    return found < 0 ? 0 : n;
}

const mo_attr_list *mo_attr_list_parse(const char *text, mo_arena *arena)
{
    int n = count_members(text);
    mo_attr_list *list = mo_arena_alloc(arena, sizeof *list);
    mo_attr *items = mo_arena_array(arena, (size_t) n, sizeof *items);
    mo_json_cursor cursor;
    mo_json_member member;

    if (!list || !items)
        return NULL;
    mo_json_open(&cursor, '{', text, strlen(text));
    for (int i = 0; i < n; i++) {
        mo_json_take_member(&cursor, &member);
        if (!parse_member(&member, arena, &items[i]))
            return NULL;
    }
    *list = (mo_attr_list){ n, items };
    return list;
}

const mo_attr *mo_attr_find(const mo_attr_list *list, const char *key)
{
    size_t length = strlen(key);

    for (int i = list ? list->n : 0; i-- > 0;) {
        const mo_attr *attr = &list->items[i];

        if (attr->key && attr->key_length == length &&
            memcmp(attr->key, key, length) == 0)
            return attr;
    }
    return NULL;
}

int mo_attr_ints(const mo_attr_list *list, const char *key, int64_t *values,
                 int max)
{
    const mo_attr *attr = mo_attr_find(list, key);
    int n = attr ? mo_min_int(attr->n_ints, max) : 0;

    if (n > 0)
        memcpy(values, attr->ints, (size_t) n * sizeof *values);
    return attr ? attr->n_ints : -1;
}

bool mo_attr_bool(const mo_attr_list *list, const char *key, bool fallback)
{
    const mo_attr *attr = mo_attr_find(list, key);

    return attr && attr->boolean >= 0 ? attr->boolean == 1 : fallback;
}

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char) (c | 0x20) : c;
}

bool mo_attr_equals(const mo_attr_list *list, const char *key,
                    const char *string)
{
    const mo_attr *attr = mo_attr_find_string(list, key);

    if (!attr || !attr->string || attr->string_length != strlen(string))
        return false;
    for (size_t i = 0; i < attr->string_length; i++)
        if (lower(attr->string[i]) != lower(string[i]))
            return false;
    return true;
}

const mo_attr *mo_attr_find_string(const mo_attr_list *list, const char *key)
{
    const mo_attr *attr = mo_attr_find(list, key);

    return attr && attr->kind == MO_ATTR_STRING ? attr : NULL;
}
