/* SPDX-License-Identifier: Apache-2.0 */
/*
 * utf8.h - UTF-8: decoding, encoding, escaping and display width.
 */
#ifndef MO_BASE_UTF8_H
#define MO_BASE_UTF8_H

#include <stddef.h>
#include <stdint.h>

/*
 * Decodes the character that begins at text, of which length bytes may be
 * read. Returns its length in bytes (1 to 4) and sets *code, or returns 0 with
 * *code unchanged when no well-formed character begins there: overlong forms,
 * surrogates and codes beyond U+10FFFF are ill-formed.
 *
 * Reading stops at the first byte that does not fit, so for a text that ends
 * in 0 the length may be given as 4.
 */
size_t mo_utf8_decode(const char *text, size_t length, uint32_t *code);

/* Writes code, which is at most U+10FFFF, to text; returns the number of
 * bytes, at most 4. */
size_t mo_utf8_encode(char *text, uint32_t code);

/*
 * Copies text to the buffer `to` of size bytes so that it stays on one line
 * and cannot control a terminal: control characters, those that end a line or
 * change its direction, and ill-formed bytes become \n, \t or \x1b, byte by
 * byte. A text that does not fit is cut at a whole character and ends in
 * "...". Returns to. Both may be the same buffer only if text came from this
 * function.
 */
char *mo_utf8_escape_controls(char *to, size_t size, const char *text);

/* Returns the number of terminal columns of a visible text: none for a
 * combining mark, two for wide East Asian characters and for pictographs. */
int mo_utf8_columns(const char *text);

#endif
