/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json.h - reads what an operator's `attrs` hold: one flat JSON object.
 *
 * Values are texts, numbers, booleans or arrays of them; nested objects are
 * checked and otherwise ignored.  Nothing is allocated: the answers point into
 * the text.  (A JSON library would be the first dependency beside libxml2, for
 * a handful of keys; this checks the grammar of RFC 8259 and nothing more.)
 */
#ifndef MO_BASE_JSON_H
#define MO_BASE_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Is this one JSON object, whole and well-formed?  Depth at most 32. */
bool mo_json_is_object(const char *text, size_t length);

/* Is it one array of texts, of one at least? */
bool mo_json_is_text_array(const char *text, size_t length);

/* The raw value of key in the object at text (0-terminated, checked before):
 * "12", "\"same_upper\"", "[1,1]".  Of several the last one, as most readers
 * have it; NULL when absent. */
const char *mo_json_find(const char *text, const char *key, size_t *length);

/* A member of an object: its key between the quotes, as written, and its raw
 * value. */
typedef struct mo_json_member {
    const char *key, *value;
    size_t key_length, value_length;
} mo_json_member;

/* Steps through the members of an object: *at is its text (as above) at first
 * and moved on with each.  False behind the last. */
bool mo_json_next(const char **at, mo_json_member *member);

/* The value of key as integers, whether written 3, [1,1], "1,1" or "3".
 * Returns how many there are (at most max are stored), -1 when absent or not
 * integers. */
int mo_json_ints(const char *text, const char *key, int64_t *values, int max);

/* The value of key as a boolean (true, "true", 1, "1"), or fallback. */
bool mo_json_bool(const char *text, const char *key, bool fallback);

/* True when the value of key is the text given, letters' case ignored. */
bool mo_json_text_equals(const char *text, const char *key, const char *value);

#endif
