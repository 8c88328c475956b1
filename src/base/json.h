/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json.h - JSON parser (RFC 8259): checks a text, finds the value of a key, and
 * iterates over the members of an object or the items of an array.
 *
 * Nothing is allocated: results point into the text and are valid as long as it
 * is. A nested object or array is a raw value, which a second cursor opens.
 * Depth is limited to 32. (A JSON library would be the first dependency beside
 * libxml2, for a handful of keys.)
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
 * value; an item of an array has no key. Both are borrowed. */
typedef struct mo_json_member {
    const char *key, *value;
    size_t key_length, value_length;
} mo_json_member;

/* Position in a text, which need not be well-formed. */
typedef struct mo_json_cursor {
    const char *at, *end;
    const char *fault; /* what is wrong at `at`, after a failure */
} mo_json_cursor;

/* As mo_json_is_object(); after a failure the cursor says what is wrong, and
 * where. */
bool mo_json_check(mo_json_cursor *c, const char *text, size_t length);

/* Sets the cursor to the first member of the object (bracket '{') or the first
 * item of the array ('[') at text, which it borrows. Returns false when there
 * is none. */
bool mo_json_open(mo_json_cursor *c, char bracket, const char *text,
                  size_t length);

/* Reads the member (in an array: item) at the cursor and advances it. Returns
 * 1; 0 behind the last one; -1 when what follows is none. The key is NULL when
 * it is not well-formed; a missing comma is ignored. */
int mo_json_take_member(mo_json_cursor *c, mo_json_member *member);
int mo_json_take_item(mo_json_cursor *c, mo_json_member *item);

/* Returns whether the member has that key, once escapes are resolved. */
bool mo_json_key_is(const mo_json_member *member, const char *key);

/* Copies a string, given as the bytes between its quotes and checked before,
 * without its escapes to copy, of at least length bytes (string itself is
 * allowed), and sets *copy_length. Returns false when it contains a zero byte,
 * which no C string does. */
bool mo_json_unescape(const char *string, size_t length, char *copy,
                      size_t *copy_length);

/* Reads a raw value as integers, written 3, [1,1], "1,1" or "3". Returns their
 * number (at most max are stored), -1 when it is not integers. */
int mo_json_value_ints(const char *value, size_t length, int64_t *values,
                       int max);

/* Returns 1 for a raw value of true, "true", 1 or "1", 0 for false likewise,
 * -1 for any other. */
int mo_json_value_bool(const char *value, size_t length);

#endif
