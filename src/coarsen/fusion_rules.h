/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fusion_rules.h - fusion rules: the chains of operator types that a backend
 * fuses.
 *
 * One rule per line, words separated by blanks, '#' starts a comment
 * (moirai-coarsen(1)). Built-in sets are written the same way.
 */
#ifndef MO_COARSEN_FUSION_RULES_H
#define MO_COARSEN_FUSION_RULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "ingest/operator.h"

/*
 * Operator pattern: one word of a fusion rule, and the ops that match it.
 *
 * A word is a role (conv, matmul, bias, act, ...: moirai-coarsen(1) lists
 * them), else an operator name of any vocabulary, else a literal type. Case is
 * ignored.
 */
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

enum {
    MO_FUSION_MAX_RULE_LENGTH = 16,
    MO_FUSION_MAX_RULES = 1024,
    MO_FUSION_MAX_FILE = 1 << 20
};

typedef struct mo_fusion_rule {
    const mo_fusion_pattern *words;
    int n; /* 2 .. MO_FUSION_MAX_RULE_LENGTH */
} mo_fusion_rule;

/* Longest first; among equals, in byte order of their words; no rule twice. */
typedef struct mo_fusion_rules {
    mo_fusion_rule *rules;
    int n;
    struct mo_arena *arena;
} mo_fusion_rules;

typedef struct mo_fusion_rule_set {
    const char *name, *help;
    const char *text; /* as in a rule file */
} mo_fusion_rule_set;

/* Ends with a NULL name. */
extern const mo_fusion_rule_set mo_fusion_rule_sets[];

/* Returns the built-in set of that name, or NULL. */
const mo_fusion_rule_set *mo_fusion_rule_set_find(const char *name);

/* Returns whether name is a built-in set or "none", not a file. */
bool mo_fusion_rules_is_set(const char *name);

/* Loads a built-in set by name, else a file. The caller frees *rules with
 * mo_fusion_rules_free(), which accepts NULL. The second function parses
 * length bytes; file is the name for error messages. */
mo_status mo_fusion_rules_load(const char *name_or_file,
                               mo_fusion_rules **rules, mo_error *err);
mo_status mo_fusion_rules_parse(const char *file, const char *text,
                                size_t length, mo_fusion_rules **rules,
                                mo_error *err);
void mo_fusion_rules_free(mo_fusion_rules *rules);

/* Sets *digest to a digest of the rules for the identity of a model:
 * independent of white space, comments and their order in the file. */
mo_status mo_fusion_rules_digest(const mo_fusion_rules *rules, uint64_t *digest,
                                 mo_error *err);

#endif
