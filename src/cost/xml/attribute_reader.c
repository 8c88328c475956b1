/* SPDX-License-Identifier: Apache-2.0 */
#include "cost/xml/attribute_reader.h"

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "cost/cluster.h"

/* 2^63, the first double that no int64_t holds. */
#define BEYOND_INT64 9223372036854775808.0

#define BYTES_PER_GIB 1073741824.0

enum { MAX_SHOWN = 60, LIST_SIZE = 512 };

static bool read_double(const mo_xml_attribute *from, double *value)
{
    return mo_number_read_double(from->value, from->length, value) ==
           MO_NUMBER_OK;
}

/* A non-negative double rounded to a whole number. */
static bool to_int64(double value, int64_t *rounded)
{
    if (!(value >= 0 && value < BEYOND_INT64))
        return false;
    *rounded = (int64_t) value;
    if (value - (double) *rounded >= 0.5)
        ++*rounded;
    return true;
}

static bool read_positive(const mo_xml_attribute *from, void *to)
{
    double value;

    if (!read_double(from, &value) || !(value > 0))
        return false;
    *(double *) to = value;
    return true;
}

static bool read_amount(const mo_xml_attribute *from, void *to)
{
    double value;

    if (!read_double(from, &value) || !(value >= 0))
        return false;
    *(double *) to = value;
    return true;
}

static bool read_int_from(const mo_xml_attribute *from, int lowest, void *to)
{
    int64_t value;

    if (mo_number_read_int(from->value, from->length, &value) != MO_NUMBER_OK ||
        value < lowest || value > INT_MAX)
        return false;
    *(int *) to = (int) value;
    return true;
}

static bool read_count(const mo_xml_attribute *from, void *to)
{
    return read_int_from(from, 1, to);
}

static bool read_index(const mo_xml_attribute *from, void *to)
{
    return read_int_from(from, 0, to);
}

/* Whole numbers are read as such: above 2^53 a double would not be exact. */
static bool read_bytes(const mo_xml_attribute *from, void *to)
{
    double value;
    int64_t bytes;

    if (mo_number_read_int(from->value, from->length, &bytes) != MO_NUMBER_OK &&
        (!read_double(from, &value) || !to_int64(value, &bytes) ||
         (double) bytes != value))
        return false;
    if (bytes < 0)
        return false;
    *(int64_t *) to = bytes;
    return true;
}

static bool read_gib(const mo_xml_attribute *from, void *to)
{
    double value;

    return read_double(from, &value) && to_int64(value * BYTES_PER_GIB, to);
}

static bool read_latency(const mo_xml_attribute *from, void *to)
{
    double value;
    int64_t ns;

    if (!read_double(from, &value) || !to_int64(value * 1000, &ns) ||
        ns > MO_MAX_LATENCY_NS)
        return false;
    *(int64_t *) to = ns;
    return true;
}

static const struct {
    bool (*read)(const mo_xml_attribute *from, void *to);
    const char *wanted;
} kinds[] = {
    [MO_ATTRIBUTE_POSITIVE] = { read_positive, "a number greater than 0" },
    [MO_ATTRIBUTE_AMOUNT] = { read_amount, "a number that is not negative" },
    [MO_ATTRIBUTE_COUNT] = { read_count, "a whole number from 1 on" },
    [MO_ATTRIBUTE_INDEX] = { read_index, "a whole number from 0 on" },
    [MO_ATTRIBUTE_BYTES] = { read_bytes, "a whole number of bytes" },
    [MO_ATTRIBUTE_GIB] = { read_gib, "a number of GiB from 0 to below 2^33" },
    [MO_ATTRIBUTE_LATENCY] = { read_latency, "microseconds from 0 to 1e8" },
};

static mo_status read_value(const mo_xml_element *element,
                            const mo_xml_attribute *from,
                            const mo_attribute *attribute, void *base,
                            mo_arena *arena, mo_error *err)
{
    void *to = (char *) base + attribute->offset;

    if (attribute->kind == MO_ATTRIBUTE_TEXT) {
        const char **text = to;

        if (from->length == 0)
            return MO_OK;
        *text = mo_arena_text(arena, from->value, from->length);
        return *text ? MO_OK : mo_fail_memory(err);
    }
    if (kinds[attribute->kind].read(from, to))
        return MO_OK;
    return mo_fail_at(
        err, MO_E_INPUT, NULL, element->line, "%s '%.*s' of a <%s> must be %s",
        from->name, from->length < MAX_SHOWN ? (int) from->length : MAX_SHOWN,
        from->value, element->name, kinds[attribute->kind].wanted);
}

static const mo_attribute *find(const mo_attribute *table, const char *name)
{
    for (; table->name; table++)
        if (strcmp(table->name, name) == 0)
            return table;
    return NULL;
}

static mo_status refuse_unknown(const mo_xml_element *element,
                                const mo_xml_attribute *attribute,
                                const mo_attribute *table, mo_error *err)
{
    char list[LIST_SIZE] = "";
    size_t n = 0;

    for (; table->name && n < sizeof list; table++)
        n += (size_t) snprintf(list + n, sizeof list - n, "%s%s",
                               n > 0 ? ", " : "", table->name);
    return mo_fail_at(err, MO_E_INPUT, NULL, element->line,
                      "a <%s> has no attribute '%.60s'; it has %s",
                      element->name, attribute->name, list);
}

mo_status mo_attribute_read_all(const mo_xml_element *element,
                                const mo_attribute *table, void *base,
                                mo_arena *arena, mo_error *err)
{
    mo_status status = MO_OK;

    for (int i = 0; i < element->n_attributes && status == MO_OK; i++) {
        const mo_xml_attribute *from = &element->attributes[i];
        const mo_attribute *attribute = find(table, from->name);

        if (from->space)
            continue;
        if (attribute)
            status = read_value(element, from, attribute, base, arena, err);
        else
            status = refuse_unknown(element, from, table, err);
    }
    return status;
}
