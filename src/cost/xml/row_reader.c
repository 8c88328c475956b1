/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "cost/xml/row_reader.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LIST_SIZE = 128 };

typedef struct reader {
    const mo_xml_rows_format *format;
    void *state;
    char *space; /* the root's namespace, or NULL */
    int skipped; /* open foreign elements */
} reader;

/* Checks the name of the root, whose namespace is that of the rows. */
static mo_status read_root(reader *r, const mo_xml_element *root, mo_error *err)
{
    if (strcmp(root->name, r->format->root) != 0)
        return mo_fail_at(err, MO_E_SUPPORT, NULL, root->line,
                          "is no %s: it begins with <%.80s>, not <%s>",
                          r->format->root, root->name, r->format->root);
    if (root->space) {
        r->space = strdup(root->space);
        if (!r->space)
            return mo_fail_memory(err);
    }
    return r->format->begin(r->state, root, err);
}

bool mo_xml_is_foreign(const char *space, const mo_xml_element *element)
{
    if (!space || !element->space)
        return space != element->space;
    return strcmp(space, element->space) != 0;
}

/* Returns the error for an element that the format does not have here. */
static mo_status fail_unexpected(const reader *r, const mo_xml_element *element,
                                 mo_error *err)
{
    char list[LIST_SIZE] = "";
    size_t n = 0;

    if (element->depth > 1)
        return mo_fail_at(err, MO_E_INPUT, NULL, element->line,
                          "<%.80s> is inside a row of <%s>; remove it: rows "
                          "have no elements",
                          element->name, r->format->root);
    for (const mo_xml_rows_row *row = r->format->rows;
         row->name && n < sizeof list; row++)
        n += (size_t) snprintf(list + n, sizeof list - n, "%s<%s>",
                               n > 0 ? " and " : "", row->name);
    return mo_fail_at(err, MO_E_INPUT, NULL, element->line,
                      "a <%s> has no <%.80s>; it has %s", r->format->root,
                      element->name, list);
}

static mo_status on_start(void *state, const mo_xml_element *element,
                          mo_error *err)
{
    reader *r = state;

    if (element->depth == 0)
        return read_root(r, element, err);
    if (r->skipped > 0 || mo_xml_is_foreign(r->space, element)) {
        r->skipped++;
        return MO_OK;
    }
    for (const mo_xml_rows_row *row = r->format->rows; row->name; row++)
        if (element->depth == 1 && strcmp(row->name, element->name) == 0)
            return row->read(r->state, element, err);
    return fail_unexpected(r, element, err);
}

static mo_status on_end(void *state, const char *name, const char *text,
                        size_t length, int line, mo_error *err)
{
    reader *r = state;

    (void) name, (void) text, (void) length, (void) line, (void) err;
    if (r->skipped > 0)
        r->skipped--;
    return MO_OK;
}

mo_status mo_xml_rows_read(mo_input *input, const mo_xml_rows_format *format,
                           void *state, mo_error *err)
{
    static const mo_xml_handler handler = { on_start, on_end };
    reader r = { format, state, NULL, 0 };
    mo_xml *xml;
    mo_status status = mo_xml_parse(input, &handler, &r, &xml, err);

    free(r.space);
    return status;
}
