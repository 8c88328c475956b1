/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lp_line_limits.h - line breaks of an LP file, shared by the writer and the
 * counter.
 */
#ifndef MO_MODELS_WRITE_LP_LINE_LIMITS_H
#define MO_MODELS_WRITE_LP_LINE_LIMITS_H

#include <stddef.h>

/* Some readers have 255 characters for a line. */
enum { MO_LP_WRITER_LINE_MAX = 255 };

/* Reserved for a sense and a number behind a row's terms. */
enum { MO_LP_WRITER_SENSE_ROOM = 32 };

/* Returns the characters reserved for a term: sign, number (0: none) and name,
 * a blank behind each. */
static inline size_t mo_lp_writer_term_room(size_t number_length,
                                            size_t name_length)
{
    return 2 + (number_length ? number_length + 1 : 0) + name_length + 1;
}

#endif
