/* SPDX-License-Identifier: Apache-2.0 */
/*
 * graphml_value.h - what stands in a <data> element, as the type it is kept in.
 *
 * Private to graphml_*.c.
 */
#ifndef MO_INGEST_GRAPHML_VALUE_PARSER_H
#define MO_INGEST_GRAPHML_VALUE_PARSER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "graph/build.h"
#include "ingest/graphml/schema.h"

typedef struct mo_graphml_values {
    mo_builder *builder; /* keeps the texts */
    char *scratch;
    size_t scratch_room;
    const char *problem; /* why the last value was refused, and what to write
                            instead: "is not a number; write ..." */
} mo_graphml_values;

void mo_graphml_values_clear(mo_graphml_values *values);

/*
 * Reads the length bytes at text into *to, whose type depends on kind; white
 * space around them does not count.  *is_value is false when there is nothing
 * to keep: an empty text, or a shape of the kind drawing programs mean.
 *
 * A value that cannot be is MO_E_INPUT with the problem told in values; the
 * error is left to the caller, who knows whose value it is.
 */
mo_status mo_graphml_parse_value(mo_graphml_values *values,
                                 mo_graphml_kind kind, const char *text,
                                 size_t length, void *to, bool *is_value,
                                 mo_error *err);

/* Whether there may be nothing where a value of that kind is wanted. */
bool mo_graphml_may_be_empty(mo_graphml_kind kind);

/* Moves *text and *length past white space at both ends. */
void mo_graphml_trim(const char **text, size_t *length);

#endif
