/* SPDX-License-Identifier: Apache-2.0 */
/* Reader and writer of efficiency files. */
#include <stddef.h>

#include "cost/xml/attribute_reader.h"
#include "cost/efficiency.h"
#include "cost/xml/row_reader.h"

/* An invalid value: all attributes are 0 or more. */
enum { UNSET = -1 };

/* Attributes of a row for a class and a generation. */
typedef struct row_attributes {
    const char *class, *generation, *type;
    double compute, memory, launch;
    int line;
} row_attributes;

typedef struct reader {
    mo_efficiencies *table;
    mo_arena *arena;                /* texts, while reading */
    int lines[MO_MAX_EFFICIENCIES]; /* of the rows */
} reader;

#define ROW(field) offsetof(row_attributes, field)

static const mo_attribute no_attributes[] = {
    { NULL, MO_ATTRIBUTE_TEXT, 0 },
};

static const mo_attribute row_table[] = {
    { "class", MO_ATTRIBUTE_TEXT, ROW(class) },
    { "generation", MO_ATTRIBUTE_TEXT, ROW(generation) },
    { "type", MO_ATTRIBUTE_TEXT, ROW(type) },
    { "compute", MO_ATTRIBUTE_POSITIVE, ROW(compute) },
    { "memory", MO_ATTRIBUTE_POSITIVE, ROW(memory) },
    { "launch", MO_ATTRIBUTE_AMOUNT, ROW(launch) },
    { NULL, MO_ATTRIBUTE_TEXT, 0 },
};

static mo_status begin(void *state, const mo_xml_element *root, mo_error *err)
{
    reader *r = state;

    return mo_attribute_read_all(root, no_attributes, r, r->arena, err);
}

static mo_status find_class(const row_attributes *a, mo_efficiency *row,
                            mo_error *err)
{
    if (!a->class || !mo_class_find(a->class, &row->class))
        return mo_fail_at(err, MO_E_INPUT, NULL, a->line,
                          "class '%.60s' of a <factors> is none of the "
                          "operator classes in moirai-graph(5)",
                          a->class ? a->class : "");
    if (a->generation && !mo_generation_find(a->generation, &row->generation))
        return mo_fail_at(err, MO_E_INPUT, NULL, a->line,
                          "generation '%.60s' of a <factors> is none of those "
                          "in moirai-cost(7)",
                          a->generation);
    if (a->type && !mo_math_find(a->type, &row->math))
        return mo_fail_at(err, MO_E_INPUT, NULL, a->line,
                          "type '%.60s' of a <factors> is none of f32, tf32, "
                          "f16, bf16, fp8, int8 and fp4",
                          a->type);
    return MO_OK;
}

/* Factors that a row omits are those of the built-in table. */
static mo_status take_factors(const row_attributes *a, mo_efficiency *row,
                              mo_error *err)
{
    const mo_efficiency *builtin =
        mo_efficiency_of(NULL, row->class, row->generation);

    row->compute = a->compute == UNSET ? builtin->compute : a->compute;
    row->memory = a->memory == UNSET ? builtin->memory : a->memory;
    row->launch = a->launch == UNSET ? builtin->launch : a->launch;
    if (row->compute > 1 || row->memory > 1)
        return mo_fail_at(err, MO_E_INPUT, NULL, a->line,
                          "%s of a <factors> is more than 1; it is a fraction "
                          "of the device's peak",
                          row->compute > 1 ? "compute" : "memory");
    return MO_OK;
}

static mo_status add_row(reader *r, const mo_efficiency *row, int line,
                         mo_error *err)
{
    mo_efficiencies *table = r->table;
    bool is_any = row->generation == MO_GEN_UNKNOWN;

    for (int i = 0; i < table->n; i++)
        if (table->rows[i].class == row->class &&
            table->rows[i].generation == row->generation &&
            table->rows[i].math == row->math)
            return mo_fail_at(err, MO_E_INPUT, NULL, line,
                              "the factors of %s%s%s are there already, from "
                              "line %d; keep one of them",
                              mo_class_name(row->class), is_any ? "" : " on ",
                              is_any ? "" : mo_generation_name(row->generation),
                              r->lines[i]);
    if (table->n == MO_MAX_EFFICIENCIES)
        return mo_fail_at(err, MO_E_LIMIT, NULL, line,
                          "more than %d factors; leave out classes, "
                          "generations or types that are not needed",
                          MO_MAX_EFFICIENCIES);
    r->lines[table->n] = line;
    table->rows[table->n++] = *row;
    return MO_OK;
}

static mo_status read_row(void *state, const mo_xml_element *element,
                          mo_error *err)
{
    reader *r = state;
    row_attributes a = {
        .compute = UNSET,
        .memory = UNSET,
        .launch = UNSET,
        .line = element->line,
    };
    mo_efficiency row = { .generation = MO_GEN_UNKNOWN };
    mo_status status =
        mo_attribute_read_all(element, row_table, &a, r->arena, err);

    if (status == MO_OK)
        status = find_class(&a, &row, err);
    if (status == MO_OK)
        status = take_factors(&a, &row, err);
    return status == MO_OK ? add_row(r, &row, a.line, err) : status;
}

static mo_status read_input(mo_input *input, mo_efficiencies *table,
                            mo_error *err)
{
    static const mo_xml_rows_row rows[] = { { "factors", read_row },
                                            { NULL, NULL } };
    static const mo_xml_rows_format format = { "efficiency", begin, rows };
    mo_efficiencies read = { .n = 0 };
    reader r = { .table = &read, .arena = mo_arena_new() };
    mo_status status = r.arena ? mo_xml_rows_read(input, &format, &r, err)
                               : mo_fail_memory(err);

    if (status == MO_OK)
        *table = read;
    else
        mo_error_set_location(err, mo_input_name(input), 0);
    mo_arena_free(r.arena);
    mo_input_close(input);
    return status;
}

mo_status mo_efficiencies_read(const char *path, mo_efficiencies *table,
                               mo_error *err)
{
    mo_input *input;
    mo_status status = mo_input_open(path, &input, err);

    return status == MO_OK ? read_input(input, table, err) : status;
}

mo_status mo_efficiencies_read_memory(const char *file, const char *data,
                                      size_t size, mo_efficiencies *table,
                                      mo_error *err)
{
    mo_input *input;
    mo_status status = mo_input_memory(file, data, size, &input, err);

    return status == MO_OK ? read_input(input, table, err) : status;
}

static void put_factor(mo_out *out, const char *name, double value)
{
    mo_out_char(out, ' ');
    mo_out_text(out, name);
    mo_out_text(out, "=\"");
    mo_out_double(out, value);
    mo_out_char(out, '"');
}

void mo_efficiencies_write(const mo_efficiencies *table, mo_out *out)
{
    mo_out_text(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                     "<efficiency>\n");
    for (int i = 0; i < table->n; i++) {
        const mo_efficiency *row = &table->rows[i];

        mo_out_printf(out, "  <factors class=\"%s\"",
                      mo_class_name(row->class));
        if (row->generation != MO_GEN_UNKNOWN)
            mo_out_printf(out, " generation=\"%s\"",
                          mo_generation_name(row->generation));
        if (row->math != MO_MATH_F32)
            mo_out_printf(out, " type=\"%s\"", mo_math_name(row->math));
        put_factor(out, "compute", row->compute);
        put_factor(out, "memory", row->memory);
        put_factor(out, "launch", row->launch);
        mo_out_text(out, "/>\n");
    }
    mo_out_text(out, "</efficiency>\n");
}
