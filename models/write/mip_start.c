/* SPDX-License-Identifier: Apache-2.0 */
#include "models/write/mip_start.h"

#include <string.h>

#include "base/compress.h"

typedef struct start_sink {
    mo_sink sink; /* first, so that a mo_sink is one of these */
    mo_out *out;
    const struct layout_format *layout_format;
} start_sink;

/* The opening, followed by the makespan, and whether columns at zero are
 * written: some solvers take missing ones for unknown. */
typedef struct layout_format {
    const char *ending; /* of a file's name; NULL: any other */
    const char *opening;
    bool numbered; /* the column's number in front, its cost behind */
    bool writes_zeros;
} layout_format;

static const layout_format layout_formats[] = {
    [MO_MIP_START_MIPLIB] = { NULL, "=obj= ", false, false },
    [MO_MIP_START_GUROBI] = { ".mst", "# MIP start of objective ", false,
                              true },
    [MO_MIP_START_CBC] = { ".cbc", "Start - objective value ", true, true },
};

enum { LAYOUTS = sizeof layout_formats / sizeof *layout_formats };

/* Compression makes no difference. */
static bool ends_in(const char *path, const char *ending)
{
    size_t n = mo_compress_stem(path), m = strlen(ending);

    return n >= m && strncmp(path + n - m, ending, m) == 0;
}

mo_mip_start_layout mo_mip_start_layout_of(const char *path)
{
    for (int i = 0; i < LAYOUTS; i++)
        if (layout_formats[i].ending && ends_in(path, layout_formats[i].ending))
            return (mo_mip_start_layout) i;
    return MO_MIP_START_MIPLIB;
}

/* Column 0 is the makespan, and so the objective. */
static void write_column(mo_sink *sink, int id, const mo_variable *column)
{
    start_sink *s = (start_sink *) sink;

    if (id == 0) {
        mo_out_text(s->out, s->layout_format->opening);
        mo_out_double(s->out, column->value);
        mo_out_char(s->out, '\n');
    }
    if (column->value != 0 || s->layout_format->writes_zeros) {
        char name[MO_VARIABLE_NAME];
        size_t length = mo_variable_name(column, name);

        if (s->layout_format->numbered) {
            mo_out_int(s->out, id);
            mo_out_char(s->out, ' ');
        }
        mo_out_bytes(s->out, name, length);
        mo_out_char(s->out, ' ');
        mo_out_double(s->out, column->value);
        if (s->layout_format->numbered)
            mo_out_text(s->out, id == 0 ? " 1" : " 0");
        mo_out_char(s->out, '\n');
    }
}

mo_status mo_mip_start_new(mo_out *out, mo_mip_start_layout layout,
                           mo_sink **sink, mo_error *err)
{
    static const mo_sink_kind kind = { .passes = 1, .column = write_column };
    start_sink *s = mo_sink_new(&kind, sizeof *s, err);

    if (!s)
        return MO_E_MEMORY;
    s->out = out;
    s->layout_format = &layout_formats[layout];
    *sink = &s->sink;
    return MO_OK;
}
