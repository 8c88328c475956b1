/* SPDX-License-Identifier: Apache-2.0 */
/*
 * elimination_order.h - internal to labelling.c: the symbolic phase of bucket
 * elimination, which finds the order of variables and the messages.
 *
 * Variables are eliminated in min-degree order. The factors of a variable are
 * its bucket; their sum, minimized over the variable, is a message to the
 * bucket of a later one. A bucket whose message would exceed the size of tables
 * is split into several messages (mini-buckets).
 */
#ifndef MO_SOLVERS_SEARCH_PERIOD_ELIMINATION_ORDER_H
#define MO_SOLVERS_SEARCH_PERIOD_ELIMINATION_ORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "solvers/search/period/labelling.h"

enum { MO_ELIMINATION_MAX_SCOPE = 24 };

/* A message: the minimum over var of the sum of its inputs, a table over
 * scope.  Numbers of factors: those given, then messages. */
typedef struct mo_elimination_message {
    int var;
    bool has_unary; /* the unary costs of var are added here */
    int n_scope, n_in;
    int *scope;      /* variables eliminated later */
    int *in;         /* numbers of factors */
    size_t *strides; /* by input: n_scope + 1, that of var last */
    int64_t *table;  /* NULL: not allocated; freed with the order */
    size_t size;     /* entries of table */
} mo_elimination_message;

typedef struct mo_elimination_order {
    int n_vars, n_labels, n_given;
    const mo_labelling_factor *given; /* the caller's */
    mo_elimination_message *messages; /* in the order of elimination; those of
                                         a variable are neighbours */
    int n_messages;
    size_t room; /* allocated messages */
    bool exact;  /* no bucket was split */
    double work; /* table entries that all messages visit */
} mo_elimination_order;

/* Finds the order with the widest tables whose work is at most max_work, or
 * else the narrowest ones. Whatever is returned, the caller clears *order. */
mo_status mo_elimination_order_find(mo_elimination_order *order, int n_vars,
                                    int n_labels, int n_factors,
                                    const mo_labelling_factor *factors,
                                    double max_work, mo_error *err);

/* Accepts an order of zeros. */
void mo_elimination_order_clear(mo_elimination_order *order);

#endif
