/* SPDX-License-Identifier: Apache-2.0 */
/*
 * header.h - decoder of the header of a GGUF file: key-value pairs and tensor
 * infos.  The weights behind it are not read.
 *
 * Versions 2 and 3 in either byte order.  Numbers, short texts and short
 * arrays of integers are kept, so not the vocabulary.  Tensors must lie one
 * behind the other, aligned, as ggml requires.
 */
#ifndef MO_INGEST_GGUF_HEADER_H
#define MO_INGEST_GGUF_HEADER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "ingest/llm/ggml_type.h"
#include "ingest/input.h"

enum { MO_GGUF_DIMS = 4 };

/* One of text, numbers of an array, or a number. */
typedef struct mo_gguf_value {
    const char *key, *text; /* text: or NULL */
    double number;          /* NAN: not a number */
    const int64_t *ints;    /* of an array of integers; or NULL */
    int64_t n_ints;
} mo_gguf_value;

typedef struct mo_gguf_tensor {
    const char *name;
    const mo_llm_type *type;
    int64_t dims[MO_GGUF_DIMS]; /* the innermost first; 1 behind the last */
    int64_t offset;             /* from data_offset */
    int64_t bytes;
} mo_gguf_tensor;

typedef struct mo_gguf_header {
    int version;
    bool is_big_endian;
    int64_t data_offset; /* in the file */
    mo_gguf_value *values;
    size_t n_values, values_room;
    mo_gguf_tensor *tensors;
    size_t n_tensors, tensors_room;
} mo_gguf_header;

/* Returns whether data is the beginning of a GGUF file. */
bool mo_gguf_sniff(const char *data, size_t size);

/* Decodes the header of input into texts of arena.  The caller calls
 * mo_gguf_header_clear(), also after a failure. */
mo_status mo_gguf_header_read(mo_input *input, mo_arena *arena,
                              mo_gguf_header *header, mo_error *err);
void mo_gguf_header_clear(mo_gguf_header *header);

/* Returns the value of a key, or NULL. */
const mo_gguf_value *mo_gguf_header_find(const mo_gguf_header *header,
                                         const char *key);

#endif
