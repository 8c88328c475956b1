/* SPDX-License-Identifier: Apache-2.0 */
/*
 * text_list.h - the texts of an op's outputs: items separated by ';',
 * "1,64;1,32".
 *
 * Such a text may come from a file and be of any length, and be searched once
 * per edge; so only a bounded part of it is ever read.  Values are in
 * output_types.h; the items as written serve to compose new texts.
 */
#ifndef MO_GRAPH_TEXT_LIST_H
#define MO_GRAPH_TEXT_LIST_H

#include <stddef.h>

/* Items beyond these limits are not found. */
enum { MO_TEXT_LIST_MAX_ITEMS = 1024, MO_TEXT_LIST_MAX_BYTES = 1 << 16 };

/* Returns item number index of text, a borrowed pointer into it, and sets
 * *length to its bytes; NULL when there are fewer or text is NULL. */
const char *mo_text_list_at(const char *text, int index, size_t *length);

/* Returns the number of items, at most MO_TEXT_LIST_MAX_ITEMS: 0 for NULL, 1
 * for "". */
int mo_text_list_count(const char *text);

#endif
