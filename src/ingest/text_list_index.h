/* SPDX-License-Identifier: Apache-2.0 */
/*
 * part_index.h - the parts of a text found by number, however many there are.
 *
 * Keeps where the parts of the last long text stand: ops that share a text, and
 * the tensors of one op, ask for the same one again and again.
 */
#ifndef MO_INGEST_TEXT_LIST_INDEX_H
#define MO_INGEST_TEXT_LIST_INDEX_H

#include <stddef.h>

#include "base/error.h"

/* All zero at first. */
typedef struct mo_text_list_index {
    const char *text; /* whose parts start at */
    size_t *starts;
    size_t n, room;
} mo_text_list_index;

/* Points *part at part number index of text, *length bytes of it; at NULL when
 * there is none.  A text is known again by its address. */
mo_status mo_text_list_index_find(mo_text_list_index *parts, const char *text,
                                  int index, const char **part, size_t *length,
                                  mo_error *err);

void mo_text_list_index_clear(mo_text_list_index *parts);

#endif
