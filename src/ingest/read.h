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

#include "base/arena.h"
#include "base/error.h"
#include "base/option.h"
#include "graph/graph.h"
#include "graph/shape.h"
#include "ingest/input.h"

/* What the user gives of the inputs of a model: ONNX and OpenVINO only. */
typedef struct mo_read_options {
    mo_option_list shapes; /* "input=1,128": sizes for dynamic dimensions */
    mo_option_list values; /* "rate=16000": inputs that become constants */
    /* As shapes, for inputs that are dynamic without them: sizes of the data
     * that they will get. One that does not fit is ignored. */
    mo_option_list hints;
} mo_read_options;

/* Frees the lists, but neither hints nor any texts. */
void mo_read_options_free(mo_read_options *options);

/* An input of a model, as its file describes it. */
typedef struct mo_model_input {
    const char *name, *dtype;     /* dtype NULL: not given */
    mo_shape shape;               /* rank or dims of -1: dynamic */
    const char *const *dim_names; /* by dimension, NULL: none; or NULL */
} mo_model_input;

typedef struct mo_model_inputs {
    mo_model_input *items;
    int n;
    mo_arena *arena; /* owns everything here */
} mo_model_inputs;

struct mo_llm_summary; /* ingest/llm/summary.h */

typedef struct mo_read_format {
    const char *name; /* "graphml" */
    const char *root; /* its root element; NULL: it is no XML */
    bool (*sniff)(const char *data, size_t size); /* of no XML: by its first
                                                     bytes */
    const char *help;
    mo_status (*read)(mo_input *input, const mo_read_options *options,
                      mo_graph **graph, mo_error *err);
    /* Lists the inputs, in memory of the arena; NULL: they have no shapes. */
    mo_status (*list_inputs)(mo_input *input, mo_model_inputs *inputs,
                             mo_error *err);
    /* Sets the figures of a language model; NULL: it is none. */
    mo_status (*summarize)(mo_input *input, const mo_read_options *options,
                           struct mo_llm_summary *summary, mo_error *err);
    /* Makes the graphs of prompt and token that run (llm/decoder.h), where the
     * graph of read is for placement alone; NULL: there are none. */
    mo_status (*read_phases)(mo_input *input, const mo_read_options *options,
                             mo_graph *graphs[2], mo_error *err);
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

/* Lists the inputs of a model without reading its graph, which may need
 * options; none of a format without shapes of inputs. format may be NULL, else
 * *format is set on success. The caller calls mo_model_inputs_free(), also
 * after a failure. */
mo_status mo_read_list_inputs(const char *path, mo_model_inputs *inputs,
                              const mo_read_format **format, mo_error *err);
void mo_model_inputs_free(mo_model_inputs *inputs);

/* Sets *summary to the figures of the language model at path; *found is false
 * if it is none. */
mo_status mo_read_summarize(const char *path, const mo_read_options *options,
                            bool *found, struct mo_llm_summary *summary,
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
