/* SPDX-License-Identifier: Apache-2.0 */
/*
 * row_reader.h - parser for XML files of one root element with rows below it.
 *
 * Elements of foreign namespaces are skipped with their contents; anything
 * else unexpected is an error that lists what is expected.
 */
#ifndef MO_COST_XML_ROW_READER_H
#define MO_COST_XML_ROW_READER_H

#include <stdbool.h>

#include "base/error.h"
#include "ingest/input.h"
#include "ingest/xml.h"

/* Returns MO_OK to continue; errors need not name the file. */
typedef mo_status mo_xml_rows_element_fn(void *state,
                                         const mo_xml_element *element,
                                         mo_error *err);

typedef struct mo_xml_rows_row {
    const char *name; /* of the element; NULL ends the table */
    mo_xml_rows_element_fn *read;
} mo_xml_rows_row;

typedef struct mo_xml_rows_format {
    const char *root; /* root element; also the name of the format in errors */
    mo_xml_rows_element_fn *begin;
    const mo_xml_rows_row *rows;
} mo_xml_rows_format;

/* Returns whether the element is not in the namespace of the root; each may be
 * NULL. */
bool mo_xml_is_foreign(const char *space, const mo_xml_element *element);

/* Reads input to its end; the caller closes it. */
mo_status mo_xml_rows_read(mo_input *input, const mo_xml_rows_format *format,
                           void *state, mo_error *err);

#endif
