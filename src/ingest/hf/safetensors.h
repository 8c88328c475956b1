/* SPDX-License-Identifier: Apache-2.0 */
/*
 * safetensors.h - decoder of the header of a safetensors file: names, element
 * types and shapes of tensors.
 *
 * As the format requires, the bytes of tensors follow each other without holes
 * in some order.
 */
#ifndef MO_INGEST_HF_SAFETENSORS_H
#define MO_INGEST_HF_SAFETENSORS_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/intern.h"

enum { MO_HF_DIMS = 4 };

typedef struct mo_hf_tensor {
    const char *name;
    const char *dtype;        /* "bf16", a constant */
    int64_t dims[MO_HF_DIMS]; /* as written; 1 behind the last */
    int rank;
    int64_t elements, bytes;
} mo_hf_tensor;

typedef struct mo_hf_tensors {
    mo_hf_tensor *items;
    size_t n, room;
    mo_intern *names; /* owns them, and none occurs twice */
} mo_hf_tensors;

/* Appends the tensors of a header, size bytes of JSON at text, which ends in
 * 0.  file is a name for errors. */
mo_status mo_hf_header_parse(const char *file, const char *text, size_t size,
                             mo_hf_tensors *tensors, mo_error *err);

/* The same of the file at path. */
mo_status mo_hf_header_read(const char *path, mo_hf_tensors *tensors,
                            mo_error *err);

#endif
