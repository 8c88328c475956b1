/* SPDX-License-Identifier: Apache-2.0 */
#include "ingest/text_list_index.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "ingest/text_list.h"

static mo_status note_starts(mo_text_list_index *parts, const char *text,
                             mo_error *err)
{
    const char *at = text;

    parts->n = 0;
    parts->text = NULL;
    do {
        mo_status status =
            MO_ARRAY_GROW(parts->starts, parts->n, parts->room, err);

        if (status != MO_OK)
            return status;
        parts->starts[parts->n++] = (size_t) (at - text);
        at = strchr(at, ';');
    } while (at++);
    parts->text = text;
    return MO_OK;
}

mo_status mo_text_list_index_find(mo_text_list_index *parts, const char *text,
                                  int index, const char **part, size_t *length,
                                  mo_error *err)
{
    mo_status status = MO_OK;

    *part = mo_text_list_at(text, index, length);
    if (*part || !text || index < 0 ||
        (index < MO_TEXT_LIST_MAX_ITEMS &&
         mo_text_list_count(text) < MO_TEXT_LIST_MAX_ITEMS &&
         strnlen(text, MO_TEXT_LIST_MAX_BYTES) < MO_TEXT_LIST_MAX_BYTES))
        return MO_OK;
    if (parts->text != text)
        status = note_starts(parts, text, err);
    if (status != MO_OK || (size_t) index >= parts->n)
        return status;
    *part = text + parts->starts[index];
    *length = strcspn(*part, ";");
    return MO_OK;
}

void mo_text_list_index_clear(mo_text_list_index *parts)
{
    free(parts->starts);
    *parts = (mo_text_list_index){ 0 };
}
