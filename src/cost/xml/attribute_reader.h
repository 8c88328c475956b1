/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attribute_reader.h - table-driven parser for the attributes of an XML
 * element.
 *
 * A table lists the attributes of an element, each with its kind and the field
 * it is stored in; the field is unchanged when the attribute is absent. An
 * attribute that is not in the table is an error that lists those that are: a
 * misspelt attribute must not become a silent default. Attributes of foreign
 * namespaces are skipped.
 */
#ifndef MO_COST_XML_ATTRIBUTE_READER_H
#define MO_COST_XML_ATTRIBUTE_READER_H

#include <stddef.h>

#include "base/arena.h"
#include "base/error.h"
#include "ingest/xml.h"

typedef enum mo_attribute_kind {
    MO_ATTRIBUTE_TEXT,     /* const char *; "" counts as absent */
    MO_ATTRIBUTE_POSITIVE, /* double > 0 */
    MO_ATTRIBUTE_AMOUNT,   /* double >= 0 */
    MO_ATTRIBUTE_COUNT,    /* int >= 1 */
    MO_ATTRIBUTE_INDEX,    /* int >= 0 */
    MO_ATTRIBUTE_BYTES,    /* int64_t >= 0 */
    MO_ATTRIBUTE_GIB,      /* int64_t bytes, written in GiB */
    MO_ATTRIBUTE_LATENCY   /* int64_t ns, written in us, to MO_MAX_LATENCY_NS */
} mo_attribute_kind;

typedef struct mo_attribute {
    const char *name; /* NULL ends the table */
    mo_attribute_kind kind;
    size_t offset; /* of the field, of the kind's type */
} mo_attribute;

/* Reads all attributes of element into the struct at base, which the caller
 * allocates and initializes. Texts are copied into arena. */
mo_status mo_attribute_read_all(const mo_xml_element *element,
                                const mo_attribute *table, void *base,
                                mo_arena *arena, mo_error *err);

#endif
