/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json_writer.h"

#include <assert.h>

enum { STEP = 2 }; /* columns per level */

static void end_line(mo_json_writer *w)
{
    static const char blanks[] = "\n                ";

    static_assert(sizeof blanks == 2 + STEP * MO_JSON_MAX_NESTING,
                  "as many blanks as the deepest level has");
    mo_out_bytes(w->out, blanks, 1 + (size_t) w->indent);
}

void mo_json_put_key(mo_json_writer *w, const char *key)
{
    bool any = w->open[w->depth].any;

    if (any)
        mo_out_char(w->out, ',');
    if (w->open[w->depth].layout != MO_JSON_INLINE)
        end_line(w);
    else if (any)
        mo_out_char(w->out, ' ');
    w->open[w->depth].any = w->depth > 0;
    if (key) {
        mo_out_json(w->out, key);
        mo_out_text(w->out, ": ");
    }
}

static void begin_level(mo_json_writer *w, const char *key,
                        mo_json_layout layout, char open, char close)
{
    mo_json_put_key(w, key);
    mo_out_char(w->out, open);
    assert(w->depth < MO_JSON_MAX_NESTING);
    w->depth++;
    w->open[w->depth].layout = layout;
    w->open[w->depth].close = close;
    w->open[w->depth].any = false;
    if (layout != MO_JSON_INLINE)
        w->indent += STEP;
}

void mo_json_begin_object(mo_json_writer *w, const char *key,
                          mo_json_layout layout)
{
    begin_level(w, key, layout, '{', '}');
}

void mo_json_begin_array(mo_json_writer *w, const char *key,
                         mo_json_layout layout)
{
    begin_level(w, key, layout, '[', ']');
}

void mo_json_end(mo_json_writer *w)
{
    mo_json_layout layout = w->open[w->depth].layout;

    if (layout != MO_JSON_INLINE)
        w->indent -= STEP;
    if (layout == MO_JSON_BLOCK ||
        (layout == MO_JSON_LINES && w->open[w->depth].any))
        end_line(w);
    mo_out_char(w->out, w->open[w->depth].close);
    w->depth--;
    if (w->depth == 0)
        mo_out_char(w->out, '\n');
}

void mo_json_put_text(mo_json_writer *w, const char *key, const char *text)
{
    mo_json_put_key(w, key);
    if (text)
        mo_out_json(w->out, text);
    else
        mo_out_text(w->out, "null");
}

void mo_json_put_int(mo_json_writer *w, const char *key, int64_t value)
{
    mo_json_put_key(w, key);
    mo_out_int(w->out, value);
}

void mo_json_put_ints(mo_json_writer *w, const char *key, const int *values,
                      int n)
{
    mo_json_begin_array(w, key, MO_JSON_INLINE);
    for (int i = 0; i < n; i++)
        mo_json_put_int(w, NULL, values[i]);
    mo_json_end(w);
}

void mo_json_put_double(mo_json_writer *w, const char *key, double value)
{
    mo_json_put_key(w, key);
    mo_out_double(w->out, value);
}

void mo_json_put_us(mo_json_writer *w, const char *key, int64_t ns)
{
    mo_json_put_double(w, key, (double) ns / 1000);
}

void mo_json_put_bool(mo_json_writer *w, const char *key, bool value)
{
    mo_json_put_key(w, key);
    mo_out_text(w->out, value ? "true" : "false");
}

void mo_json_put_null(mo_json_writer *w, const char *key)
{
    mo_json_put_text(w, key, NULL);
}
