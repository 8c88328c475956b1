/* SPDX-License-Identifier: Apache-2.0 */
#include "solvers/process/line_splitter.h"

#include <string.h>

static void keep(mo_line_splitter *lines, const char *data, size_t size)
{
    size_t room = MO_CHILD_LINE - lines->length;

    if (size > room)
        size = room;
    memcpy(lines->text + lines->length, data, size);
    lines->length += size;
}

static void tell(mo_line_splitter *lines)
{
    if (lines->length > 0 && lines->text[lines->length - 1] == '\r')
        lines->length--;
    lines->text[lines->length] = 0;
    lines->length = 0;
    if (lines->line)
        lines->line(lines->listener, lines->text);
}

void mo_line_splitter_feed(mo_line_splitter *lines, const char *data,
                           size_t size)
{
    const char *end;

    while (size > 0 && (end = memchr(data, '\n', size))) {
        keep(lines, data, (size_t) (end - data));
        tell(lines);
        size -= (size_t) (end + 1 - data);
        data = end + 1;
    }
    keep(lines, data, size);
}

void mo_line_splitter_flush(mo_line_splitter *lines)
{
    if (lines->length > 0)
        tell(lines);
}
