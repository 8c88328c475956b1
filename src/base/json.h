/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json.h - parser for the attributes of an operator: one flat JSON object.
 *
 * Values are strings, numbers, booleans or arrays of them; nested objects are
 * checked and otherwise ignored. Nothing is allocated: results point into the
 * text and are valid as long as it is. (A JSON library would be the first
 * dependency beside libxml2, for a handful of keys; this checks the grammar of
 * RFC 8259 and nothing more.)
 */
#ifndef MO_BASE_JSON_H
#define MO_BASE_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Returns whether the text is one complete, well-formed JSON object of depth
 * at most 32. */
bool mo_json_is_object(const char *text, size_t length);

/* Returns whether it is an array of strings with at least one item. */
bool mo_json_is_text_array(const char *text, size_t length);

/* Returns the raw value of key in the object at text (0-terminated, checked
 * before): "12", "\"same_upper\"", "[1,1]". Of several values of one key the
 * last one counts, as in most parsers; NULL when absent. */
const char *mo_json_find(const char *text, const char *key, size_t *length);

/* A member of an object: its key between the quotes, as written, and its raw
 * value. Both are borrowed. */
typedef struct mo_json_member {
    const char *key, *value;
    size_t key_length, value_length;
} mo_json_member;

/* Iterates over the members of an object: *at is its text (as above) before
 * the first call and is advanced by each. Returns false after the last
 * member. */
bool mo_json_next(const char **at, mo_json_member *member);

/* Reads the value of key as integers, written 3, [1,1], "1,1" or "3". Returns
 * their number (at most max are stored), -1 when absent or not integers. */
int mo_json_ints(const char *text, const char *key, int64_t *values, int max);

/* Returns the value of key as a boolean (true, "true", 1, "1"), or fallback. */
bool mo_json_bool(const char *text, const char *key, bool fallback);

/* Returns whether the value of key is the string given, ignoring case. */
bool mo_json_text_equals(const char *text, const char *key, const char *value);

#endif
