/* SPDX-License-Identifier: Apache-2.0 */
/*
 * value_parser.h - parser of the text of <data> elements, by kind of
 * attribute.
 */
#ifndef MO_INGEST_GRAPHML_VALUE_PARSER_H
#define MO_INGEST_GRAPHML_VALUE_PARSER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "graph/build.h"
#include "ingest/graphml/schema.h"

typedef struct mo_graphml_values {
    mo_builder *builder; /* owns the texts */
    char *scratch;
    size_t scratch_room;
    const char *problem; /* why the last value was refused, with a remedy: "is
                            not a number; write ..." */
} mo_graphml_values;

void mo_graphml_values_clear(mo_graphml_values *values);

/*
 * Parses length bytes at text into *to, whose type depends on kind; white
 * space around them does not count. *is_value is false when there is nothing
 * to store: an empty text, or a shape in the sense of drawing programs.
 *
 * An invalid value is MO_E_INPUT with values->problem set; the caller fills
 * the error, since it knows the node or edge.
 */
mo_status mo_graphml_parse_value(mo_graphml_values *values,
                                 mo_graphml_kind kind, const char *text,
                                 size_t length, void *to, bool *is_value,
                                 mo_error *err);

/* Returns true when the text of a value of that kind may be empty. */
bool mo_graphml_may_be_empty(mo_graphml_kind kind);

/* Moves *text and *length past white space at both ends. */
void mo_graphml_trim(const char **text, size_t *length);

#endif
