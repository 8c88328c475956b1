/* SPDX-License-Identifier: Apache-2.0 */
/*
 * word.h - a word of a fusion rule, and which ops answer to it.
 *
 * A word is a role (conv, matmul, bias, act, ...: moirai-coarsen(1) lists
 * them), else an operator name of any vocabulary, else a type taken literally.
 * Case never matters.
 */
#ifndef MO_COARSEN_FUSION_PATTERN_H
#define MO_COARSEN_FUSION_PATTERN_H

#include <stdbool.h>

#include "ingest/operator.h"

typedef struct mo_fusion_pattern {
    const char *text;                  /* as written; the owner's */
    const struct mo_fusion_role *role; /* or NULL */
    const mo_operator *kind;           /* or NULL */
} mo_fusion_pattern;

/* What a word is asked about. */
typedef struct mo_fusion_candidate {
    const char *type;        /* or NULL */
    const mo_operator *kind; /* what type stands for, or NULL */
    int n_inputs;            /* ops it reads from, constants not counted */
} mo_fusion_candidate;

typedef struct mo_fusion_role {
    const char *word, *help;
    bool (*answers)(const mo_fusion_candidate *subject);
} mo_fusion_role;

/* Ends with a NULL word. */
extern const mo_fusion_role mo_fusion_roles[];

/* text must outlive the word. */
mo_fusion_pattern mo_fusion_pattern_of(const char *text);

bool mo_fusion_pattern_matches(const mo_fusion_pattern *word,
                               const mo_fusion_candidate *subject);

#endif
