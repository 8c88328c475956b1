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

typedef struct mo_word {
    const char *text;           /* as written; the owner's */
    const struct mo_word_role *role; /* or NULL */
    const mo_operator *kind;    /* or NULL */
} mo_word;

/* What a word is asked about. */
typedef struct mo_subject {
    const char *type;        /* or NULL */
    const mo_operator *kind; /* what type stands for, or NULL */
    int n_inputs;            /* ops it reads from, constants not counted */
} mo_subject;

typedef struct mo_word_role {
    const char *word, *help;
    bool (*answers)(const mo_subject *subject);
} mo_word_role;

/* Ends with a NULL word. */
extern const mo_word_role mo_word_roles[];

/* text must outlive the word. */
mo_word mo_word_of(const char *text);

bool mo_word_matches(const mo_word *word, const mo_subject *subject);

#endif
