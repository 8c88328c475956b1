/* SPDX-License-Identifier: Apache-2.0 */
/*
 * utf8.h - telling UTF-8 from bytes that only look like it.
 */
#ifndef MO_BASE_UTF8_H
#define MO_BASE_UTF8_H

#include <stddef.h>
#include <stdint.h>

/*
 * Decodes the character that begins at text, of which length bytes may be
 * read.  Returns how many bytes it takes (1 to 4) and sets *code, or returns 0
 * with *code untouched when no well-formed one begins there: overlong forms,
 * surrogates and what lies beyond U+10FFFF count as ill-formed.
 *
 * Reading stops at the first byte that does not fit, so for a text that ends
 * in 0 the length may be given as 4.
 */
size_t mo_utf8_decode(const char *text, size_t length, uint32_t *code);

/* Writes code, which is at most U+10FFFF, at text; returns how many bytes
 * that took, at most 4. */
size_t mo_utf8_encode(char *text, uint32_t code);

/*
 * Copies text so that it stays on one line and cannot command a terminal:
 * control characters, those that end a line or turn its direction, and
 * ill-formed bytes become \n, \t or \x1b, byte by byte.  What does not
 * fit into size bytes is cut at a whole character and ends in "...".  Returns
 * to.  The two may be the same buffer only if text came from this function.
 */
char *mo_utf8_escape_controls(char *to, size_t size, const char *text);

/* How many columns of a terminal a visible text takes: none for a mark on the
 * character before it, two for the wide ones of East Asia and for pictures. */
int mo_utf8_columns(const char *text);

#endif
