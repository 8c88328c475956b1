/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ggml_type.h - element types of ggml, most of them in blocks of quantized
 * weights with common scales.
 */
#ifndef MO_INGEST_LLM_GGML_TYPE_H
#define MO_INGEST_LLM_GGML_TYPE_H

#include <stdbool.h>
#include <stdint.h>

typedef struct mo_llm_type {
    uint32_t number;  /* in files */
    const char *name; /* "q4_0" */
    int block;        /* elements of a block */
    int block_bytes;
} mo_llm_type;

/* Return the type, or NULL when it is unknown. */
const mo_llm_type *mo_llm_type_of(uint32_t number);
const mo_llm_type *mo_llm_type_find(const char *name);

/* Returns type number i in the order of the table, NULL behind the last. */
const mo_llm_type *mo_llm_type_at(int i);

/* Sets *bytes to the size of a row of that many elements, the last block
 * filled up.  Returns false on overflow. */
bool mo_llm_type_row_bytes(const mo_llm_type *type, int64_t elements,
                           int64_t *bytes);

#endif
