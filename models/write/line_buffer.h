/* SPDX-License-Identifier: Apache-2.0 */
/*
 * line_buffer.h - a line under construction, written in place into an output's
 * buffer.
 *
 *     char *at = mo_line_buffer_open(&line);
 *     *at++ = ...
 *     mo_line_buffer_close(&line, at);
 *
 * Every piece of a line ends with a blank; closing replaces the last one, the
 * character before at, by the end of the line.
 */
#ifndef MO_MODELS_WRITE_LINE_BUFFER_H
#define MO_MODELS_WRITE_LINE_BUFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "base/out.h"
#include "models/write/column_table.h"
#include "models/write/decimal.h"

/* For a line and what wide copies write beyond it. */
enum { MO_LINE_BUFFER_ROOM = 512 };

typedef struct mo_line_buffer {
    mo_out *out;
    mo_decimals decimals;
    char *begin;
    char spare[MO_LINE_BUFFER_ROOM]; /* used near the end of the output's buffer
                                      */
} mo_line_buffer;

static inline void mo_line_buffer_init(mo_line_buffer *line, mo_out *out)
{
    line->out = out;
    line->begin = NULL;
    mo_decimals_init(&line->decimals);
}

/* Returns the start of a buffer of MO_LINE_BUFFER_ROOM characters: free space
 * of the output, or the spare buffer. */
static inline char *mo_line_buffer_open(mo_line_buffer *line)
{
    bool fits = line->out->end - line->out->at > MO_LINE_BUFFER_ROOM;

    line->begin = fits ? line->out->at : line->spare;
    return line->begin;
}

static inline void mo_line_buffer_close(mo_line_buffer *line, char *at)
{
    at[-1] = '\n';
    if (line->begin == line->spare)
        mo_out_bytes(line->out, line->spare, (size_t) (at - line->spare));
    else
        line->out->at = at;
}

/* Each of these appends to the line and returns its new end. */
static inline char *mo_line_buffer_text(char *at, const char *text)
{
    size_t length = strlen(text);

    memcpy(at, text, length);
    return at + length;
}

static inline char *
mo_line_buffer_name(char *at, const mo_column_table *columns, int column)
{
    at += mo_column_table_name(columns, column, at);
    *at++ = ' ';
    return at;
}

static inline char *mo_line_buffer_decimal(char *at, const mo_decimal *decimal)
{
    memcpy(at, decimal->text, sizeof decimal->text);
    at += decimal->length;
    *at++ = ' ';
    return at;
}

static inline char *mo_line_buffer_number(mo_line_buffer *line, char *at,
                                          double value)
{
    double magnitude = value < 0 ? -value : value;

    *at = '-';
    at += value < 0;
    return mo_line_buffer_decimal(at,
                                  mo_decimal_of(&line->decimals, magnitude));
}

#endif
