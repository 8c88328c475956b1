/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tensor_role.h - names of tensors in transformers: layer, role, expert.
 */
#ifndef MO_INGEST_HF_TENSOR_ROLE_H
#define MO_INGEST_HF_TENSOR_ROLE_H

#include <stddef.h>
#include <stdint.h>

enum { MO_HF_MAX_NAME = 300 }; /* with the 0 at its end */

typedef struct mo_hf_role {
    const char *role;        /* of llm/rows.h, a constant; NULL: not known */
    int layer;               /* -1: of none */
    int64_t expert;          /* -1: of all */
    size_t prefix_length;    /* of "model.layers.", before the number */
    const char *suffix;      /* ".weight", part of the name; "" without one */
    char op[MO_HF_MAX_NAME]; /* the name without expert and suffix */
} mo_hf_role;

/* The name is shorter than MO_HF_MAX_NAME. */
mo_hf_role mo_hf_role_of(const char *name);

#endif
