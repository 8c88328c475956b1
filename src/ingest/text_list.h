/* SPDX-License-Identifier: Apache-2.0 */
/*
 * part.h - texts of several parts, one per output: "1,64;1,32".
 *
 * Such a text may come from a file and be of any length, and be asked for once
 * per edge; so only so much of it is ever looked at.
 */
#ifndef MO_INGEST_TEXT_LIST_H
#define MO_INGEST_TEXT_LIST_H

#include <stddef.h>

/* What is beyond these is as if it were not there. */
enum { MO_TEXT_LIST_MAX_ITEMS = 1024, MO_TEXT_LIST_MAX_BYTES = 1 << 16 };

/* The index-th part of text, *length bytes of it; NULL when there are fewer or
 * text is NULL. */
const char *mo_text_list_at(const char *text, int index, size_t *length);

/* The part behind the one at part, whose length is *length and becomes that of
 * the next; NULL behind the last.  Walking so takes linear time. */
const char *mo_text_list_next(const char *part, size_t *length);

/* How many parts there are, at most MO_TEXT_LIST_MAX_ITEMS; none in NULL, one
 * in "". */
int mo_text_list_count(const char *text);

#endif
