/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "graph/text_list.h"

#include <string.h>

const char *mo_text_list_at(const char *text, int index, size_t *length)
{
    const char *end, *stop;

    if (!text || index < 0 || index >= MO_TEXT_LIST_MAX_ITEMS)
        return NULL;
    end = text + strnlen(text, MO_TEXT_LIST_MAX_BYTES);
    stop = memchr(text, ';', (size_t) (end - text));
    while (index-- > 0) {
        if (!stop)
            return NULL;
        text = stop + 1;
        stop = memchr(text, ';', (size_t) (end - text));
    }
    if (!stop && *end != '\0')
        return NULL;
    *length = (size_t) ((stop ? stop : end) - text);
    return text;
}

int mo_text_list_count(const char *text)
{
    const char *end;
    int count = 1;

    if (!text)
        return 0;
    end = text + strnlen(text, MO_TEXT_LIST_MAX_BYTES);
    while (count < MO_TEXT_LIST_MAX_ITEMS &&
           (text = memchr(text, ';', (size_t) (end - text)))) {
        text++;
        count++;
    }
    return count;
}
