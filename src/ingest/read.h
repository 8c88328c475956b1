/* SPDX-License-Identifier: Apache-2.0 */
/*
 * read.h - a graph out of any file we understand.
 *
 * The format is told by the content (the root element), never by the file's
 * name.  Whatever operators are known get their flops and traffic filled in
 * where the file does not give them (ingest/work.h).
 */
#ifndef MO_INGEST_READ_H
#define MO_INGEST_READ_H

#include <stddef.h>

#include "base/error.h"
#include "graph/graph.h"
#include "ingest/input.h"

typedef struct mo_read_options {
    /* "input=1,128": sizes for dynamic dimensions of an OpenVINO model. */
    const char *const *shapes;
    size_t n_shapes;
} mo_read_options;

typedef struct mo_read_format {
    const char *name; /* "graphml" */
    const char *root; /* its root element */
    const char *help;
    mo_status (*read)(mo_input *input, const mo_read_options *options,
                      mo_graph **graph, mo_error *err);
} mo_read_format;

/* Ends with an all-NULL entry. */
extern const mo_read_format mo_read_formats[];

/* Reads path; "-" is standard input. options may be NULL. *format, if wanted,
 * is set on success. */
mo_status mo_read_graph(const char *path, const mo_read_options *options,
                        mo_graph **graph, const mo_read_format **format,
                        mo_error *err);

/* The same over an input that the caller opened and closes. */
mo_status mo_read_input(mo_input *input, const mo_read_options *options,
                        mo_graph **graph, const mo_read_format **format,
                        mo_error *err);

/* The name of the root element of input, cut to size; nothing is taken of the
 * input, which can be read as what it is. */
mo_status mo_read_root(mo_input *input, char *name, size_t size, mo_error *err);

/* A graph out of bytes in memory; file is for errors. */
mo_status mo_read_memory(const char *file, const char *data, size_t size,
                         const mo_read_options *options, mo_graph **graph,
                         const mo_read_format **format, mo_error *err);

#endif
