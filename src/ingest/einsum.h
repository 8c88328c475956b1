/* SPDX-License-Identifier: Apache-2.0 */
/*
 * einsum.h - lexer of einsum equations (Einstein summation), such as
 * "b...ij,b...jk->b...ik".
 *
 * A subscript names the dimensions of one tensor by letters; "..." stands for
 * those that no letter names.  Blanks mean nothing.  What labels mean, and
 * whether they fit the shapes, is left to the users: flops (work/flops.c),
 * shape rule (infer/einsum.c), lowering (exec/op/lower/einsum.c).
 */
#ifndef MO_INGEST_EINSUM_H
#define MO_INGEST_EINSUM_H

#include <stdbool.h>

#include "graph/graph.h"

/* Labels are the ASCII codes of their letters. */
enum {
    MO_EINSUM_ELLIPSIS = 128, /* "..." */
    MO_EINSUM_END = -1,       /* of the subscript */
    MO_EINSUM_INVALID = -2    /* neither a letter nor "..." */
};

/* A part of the equation's text, [at, end), not terminated. */
typedef struct mo_einsum_text {
    const char *at, *end;
} mo_einsum_text;

typedef struct mo_einsum_equation {
    mo_einsum_text inputs; /* subscripts, separated by commas */
    mo_einsum_text output; /* at is NULL without an arrow */
} mo_einsum_equation;

/* Finds the attribute "equation" in attrs, which may be NULL, and splits it at
 * its arrow; *equation borrows from attrs.  Returns false when there is none.
 */
bool mo_einsum_find(const mo_attr_list *attrs, mo_einsum_equation *equation);

/* Takes a subscript off the front of *inputs, with the comma behind it.  It was
 * the last one when it ends at inputs->end; behind that one more are empty. */
mo_einsum_text mo_einsum_take_subscript(mo_einsum_text *inputs);

/* Takes a label off the front of *subscript; returns it, or one of the
 * constants above. */
int mo_einsum_take_label(mo_einsum_text *subscript);

bool mo_einsum_is_letter(char c);

/* Returns how many letters there are. */
int mo_einsum_count_letters(mo_einsum_text text);

#endif
