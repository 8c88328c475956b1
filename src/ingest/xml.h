/* SPDX-License-Identifier: Apache-2.0 */
/*
 * xml.h - streaming XML parser (SAX), the only file that uses libxml2.
 *
 * The push parser is fed from mo_input, so that nothing is ever loaded from a
 * network, unpacked or expanded: a document that declares entities is refused,
 * a compressed one too. Depth, text, attributes and names are limited before
 * anything is kept of them.
 */
#ifndef MO_INGEST_XML_H
#define MO_INGEST_XML_H

#include <stddef.h>

#include "base/error.h"
#include "ingest/input.h"

enum {
    MO_XML_MAX_DEPTH = 256,
    MO_XML_MAX_ATTRIBUTES = 256, /* of one element */
    MO_XML_MAX_NAMESPACES = 256, /* in force at one place */
    MO_XML_MAX_NAMES = 1 << 20,  /* bytes libxml2 keeps for names */
    MO_XML_MAX_TEXT = 8 << 20,   /* bytes of text kept at one time */
    MO_XML_MAX_VALUE = 1 << 20,  /* bytes of one attribute */
    MO_XML_MAX_MARKUP = 9 << 20  /* bytes of one tag, comment or CDATA section:
                                    more than a text, less than libxml2's own
                                    10 million */
};

typedef struct mo_xml_attribute {
    const char *name;  /* local name, 0-terminated */
    const char *space; /* namespace URI, or NULL */
    const char *value; /* not 0-terminated */
    size_t length;
} mo_xml_attribute;

typedef struct mo_xml_element {
    const char *name;  /* local name; compare with strcmp */
    const char *space; /* namespace URI, or NULL */
    const mo_xml_attribute *attributes;
    int n_attributes;
    int depth; /* 0 for the root */
    int line;  /* where its tag begins */
} mo_xml_element;

/* Callbacks of a reader. Each returns MO_OK to go on; any other status stops
 * the parser, and mo_xml_parse() returns it with the error as filled (the file
 * is added when the error has none). Elements, attributes and texts are owned
 * by the parser and valid during the call. */
typedef struct mo_xml_handler {
    mo_status (*start)(void *state, const mo_xml_element *element,
                       mo_error *err);
    /* text: all of the element's own text, only if mo_xml_want_text() was
     * called since its start; "" otherwise. Valid during the call, with a 0
     * behind it. */
    mo_status (*end)(void *state, const char *name, const char *text,
                     size_t length, int line, mo_error *err);
} mo_xml_handler;

typedef struct mo_xml mo_xml;

/* Called inside start: keeps the text of this element for its end. */
void mo_xml_want_text(mo_xml *xml);

/* Returns the attribute of that name in no namespace, or NULL; owned by
 * element. */
const mo_xml_attribute *mo_xml_find(const mo_xml_element *element,
                                    const char *name);

/* Parses input to its end. *xml is set before the first callback, so that the
 * reader can call mo_xml_want_text(); the parser is freed before this
 * returns. */
mo_status mo_xml_parse(mo_input *input, const mo_xml_handler *handler,
                       void *state, mo_xml **xml, mo_error *err);

/* The same over a file; "-" is standard input. */
mo_status mo_xml_parse_file(const char *path, const mo_xml_handler *handler,
                            void *state, mo_xml **xml, mo_error *err);

/* The same from size bytes at data, a buffer the caller owns; file is a name
 * for errors. */
mo_status mo_xml_parse_memory(const char *file, const char *data, size_t size,
                              const mo_xml_handler *handler, void *state,
                              mo_xml **xml, mo_error *err);

#endif
