/* SPDX-License-Identifier: Apache-2.0 */
/*
 * xml_error.h - messages for errors of libxml2, with advice.
 */
#ifndef MO_INGEST_XML_ERROR_H
#define MO_INGEST_XML_ERROR_H

#include <stdbool.h>

#include "base/error.h"

typedef struct mo_xml_error {
    int code; /* libxml2's; XML_ERR_OK: all others */
    mo_status status;
    const char *text;   /* NULL: libxml2's own */
    const char *advice; /* never NULL */
} mo_xml_error;

/* Returns the message for a code of libxml2; never NULL. */
const mo_xml_error *mo_xml_error_find(int code);

/* Returns its text, or libxml2's own message, which may be NULL; never NULL. */
const char *mo_xml_error_text(int code, const char *message);

/* Whether parsing ends. An undeclared entity is only a warning to libxml2 where
 * the document names a type definition that might declare it. */
bool mo_xml_error_is_failure(int code, int level);

#endif
