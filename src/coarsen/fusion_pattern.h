/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fusion_pattern.h - operator pattern: one word of a fusion rule, and the ops
 * that match it.
 *
 * A word is a role (conv, matmul, bias, act, ...: moirai-coarsen(1) lists
 * them), else an operator name of any vocabulary, else a literal type. Case is
 * ignored.
 */
#ifndef MO_COARSEN_FUSION_PATTERN_H
#define MO_COARSEN_FUSION_PATTERN_H

#include <stdbool.h>

#include "ingest/operator.h"

typedef struct mo_fusion_pattern {
    const char *text;                  /* as written; borrowed */
    const struct mo_fusion_role *role; /* or NULL */
    const mo_operator *kind;           /* or NULL */
} mo_fusion_pattern;

/* The properties of an op that patterns test. */
typedef struct mo_fusion_candidate {
    const char *type;        /* or NULL */
    const mo_operator *kind; /* the operator that type denotes, or NULL */
    int n_inputs; /* number of ops it reads, without constants; at most 2 are
                     counted */
} mo_fusion_candidate;

typedef struct mo_fusion_role {
    const char *word, *help;
    bool (*matches)(const mo_fusion_candidate *candidate);
} mo_fusion_role;

/* Ends with a NULL word. */
extern const mo_fusion_role mo_fusion_roles[];

/* Resolves a word. The result borrows text, which must outlive it. */
mo_fusion_pattern mo_fusion_pattern_of(const char *text);

bool mo_fusion_pattern_matches(const mo_fusion_pattern *word,
                               const mo_fusion_candidate *candidate);

#endif
