/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json_writer.h - streaming JSON writer: separators, indentation and nesting.
 *
 * The writer keeps a stack of open objects and arrays and writes to an mo_out
 * as it is called; it allocates nothing and never fails by itself (out.h keeps
 * the first failure). Every function takes the key of the member that it
 * writes, or NULL for an element of an array and for the outermost value:
 *
 *     mo_json_writer w = { .out = out };
 *
 *     mo_json_begin_object(&w, NULL, MO_JSON_LINES);      {
 *     mo_json_put_int(&w, "ops", 3);                        "ops": 3,
 *     mo_json_begin_array(&w, "links", MO_JSON_INLINE);     "links": ["a"]
 *     mo_json_put_text(&w, NULL, "a");                    }
 *     mo_json_end(&w);
 *     mo_json_end(&w);
 */
#ifndef MO_BASE_JSON_WRITER_H
#define MO_BASE_JSON_WRITER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/out.h"

enum { MO_JSON_MAX_NESTING = 8 };

/* Placement of the elements of an object or array. One that is not inline
 * indents its elements by two blanks more than the innermost enclosing one
 * that is not. */
typedef enum mo_json_layout {
    MO_JSON_INLINE,  /* all on one line */
    MO_JSON_LINES,   /* one a line; empty: {} or [] */
    MO_JSON_BLOCK,   /* one a line; the closing bracket always on its own */
    MO_JSON_HANGING, /* one a line; the closing bracket behind the last */
} mo_json_layout;

/* Plain data; private but for out, which the caller sets and keeps. */
typedef struct mo_json_writer {
    mo_out *out;
    int depth;  /* number of open objects and arrays */
    int indent; /* columns */
    struct {
        mo_json_layout layout;
        char close;                  /* the closing bracket */
        bool any;                    /* an element has been written */
    } open[MO_JSON_MAX_NESTING + 1]; /* from 1 on */
} mo_json_writer;

/* Writes the separator before an element and its key; the caller appends the
 * value, valid JSON, to w->out. */
void mo_json_put_key(mo_json_writer *w, const char *key);

void mo_json_begin_object(mo_json_writer *w, const char *key,
                          mo_json_layout layout);
void mo_json_begin_array(mo_json_writer *w, const char *key,
                         mo_json_layout layout);

/* Closes the innermost open object or array; the outermost ends the line. */
void mo_json_end(mo_json_writer *w);

/* Writes a string escaped by mo_out_json(); NULL is written as null. */
void mo_json_put_text(mo_json_writer *w, const char *key, const char *text);

void mo_json_put_int(mo_json_writer *w, const char *key, int64_t value);

/* Writes an array of n integers on one line. */
void mo_json_put_ints(mo_json_writer *w, const char *key, const int *values,
                      int n);

/* Writes the shortest decimal that mo_out_double() finds; finite values only,
 * as JSON has no others. */
void mo_json_put_double(mo_json_writer *w, const char *key, double value);

/* Writes nanoseconds as a number of microseconds. */
void mo_json_put_us(mo_json_writer *w, const char *key, int64_t ns);

void mo_json_put_bool(mo_json_writer *w, const char *key, bool value);
void mo_json_put_null(mo_json_writer *w, const char *key);

#endif
