/* SPDX-License-Identifier: Apache-2.0 */
/*
 * read.h - reader of graphs, in any known format.
 *
 * The format is detected by content (sniff: the root element of XML, the first
 * bytes of a binary file), never by the file's name. Known operators get their
 * flops and traffic filled in where the file does not give them
 * (ingest/work.h).
 */
#ifndef MO_INGEST_READ_H
#define MO_INGEST_READ_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "graph/graph.h"
#include "ingest/input.h"

typedef struct mo_read_options {
    /* "input=1,128": sizes for dynamic dimensions of a model. */
    const char *const *shapes;
    size_t n_shapes;
} mo_read_options;

typedef struct mo_read_format {
    const char *name; /* "graphml" */
    const char *root; /* its root element; NULL: it is no XML */
    bool (*sniff)(const char *data, size_t size); /* of no XML: by its first
                                                     bytes */
    const char *help;
    mo_status (*read)(mo_input *input, const mo_read_options *options,
                      mo_graph **graph, mo_error *err);
} mo_read_format;

/* Known formats; ends with an all-NULL entry. */
extern const mo_read_format mo_read_formats[];

/* Reads path; "-" is standard input. The caller frees *graph with
 * mo_graph_free(). options may be NULL; format may be NULL, else *format is
 * set on success. */
mo_status mo_read_graph(const char *path, const mo_read_options *options,
                        mo_graph **graph, const mo_read_format **format,
                        mo_error *err);

/* The same from an input that the caller opened and closes. */
mo_status mo_read_input(mo_input *input, const mo_read_options *options,
                        mo_graph **graph, const mo_read_format **format,
                        mo_error *err);

/* Sets *format to that of input, or to NULL when it is no graph; nothing is
 * consumed. Fails only where the input cannot be read. */
mo_status mo_read_find_format(mo_input *input, const mo_read_format **format,
                              mo_error *err);

/* Copies the name of the root element of input into the buffer name, cut to
 * size bytes; "" when there is none. Nothing is consumed: the input can be
 * read from its beginning. */
mo_status mo_read_root(mo_input *input, char *name, size_t size, mo_error *err);

/* The same as mo_read_graph() from size bytes at data, a buffer the caller
 * owns; file is a name for errors. */
mo_status mo_read_memory(const char *file, const char *data, size_t size,
                         const mo_read_options *options, mo_graph **graph,
                         const mo_read_format **format, mo_error *err);

#endif
