/* SPDX-License-Identifier: Apache-2.0 */
/*
 * autodiff_internal.h - nodes of the tape, for the files of autodiff.h.
 *
 * Each operation is defined in one place together with its backward function:
 * from the gradient of its result to those of its operands.
 */
#ifndef MO_SOLVERS_SEARCH_RL_NN_AUTODIFF_INTERNAL_H
#define MO_SOLVERS_SEARCH_RL_NN_AUTODIFF_INTERNAL_H

#include "solvers/search/rl/nn/autodiff.h"

typedef struct mo_rl_tape_node mo_rl_tape_node;
typedef void mo_rl_tape_backward_fn(mo_rl_tape *tape,
                                    const mo_rl_tape_node *made);

struct mo_rl_tape_node {
    int rows, cols;
    mo_rl_real *values;           /* of a weight its own: read-only */
    const mo_rl_param *weight;    /* or NULL */
    const mo_rl_real *transposed; /* transpose; NULL: not computed yet */
    mo_rl_real
        *gradient; /* NULL: not yet; a backward function may overwrite it */
    mo_rl_tape_backward_fn *backward; /* NULL: a leaf */
    mo_rl_var a, b;
    const mo_rl_var *parts; /* operands of a concatenation */
    int n; /* of parts; or the first column of a slice; or a third operand */
    const int *pick, *list;
    const double *factor;
    double by;
};

struct mo_rl_tape {
    const mo_rl_params *weights;
    mo_rl_real *gradient;
    mo_rl_tape_node *nodes;
    int n_nodes, nodes_room;
    struct mo_rl_tape_block *blocks, *current;
    size_t bytes;
    bool failed;
};

static inline mo_rl_tape_node *mo_rl_tape_node_at(const mo_rl_tape *tape,
                                                  mo_rl_var a)
{
    return &tape->nodes[a];
}

static inline size_t mo_rl_tape_node_size(const mo_rl_tape_node *node)
{
    return (size_t) node->rows * (size_t) node->cols;
}

/* Allocates bytes that live until the tape is reset; returns NULL when the
 * tape has failed. */
void *mo_rl_tape_alloc(mo_rl_tape *tape, size_t bytes);
/* Returns a copy with that lifetime if the tape has a gradient; else NULL. */
const void *mo_rl_tape_save(mo_rl_tape *tape, const void *data, size_t bytes);

/* Appends a node with uninitialized values and its backward function; returns
 * NULL when the tape has failed.  Invalidates pointers to other nodes. */
mo_rl_tape_node *mo_rl_tape_new_node(mo_rl_tape *tape, int rows, int cols,
                                     mo_rl_tape_backward_fn *backward);
mo_rl_tape_node *mo_rl_tape_new_zero_node(mo_rl_tape *tape, int rows, int cols,
                                          mo_rl_tape_backward_fn *backward);
/* Returns the number of the node appended last, or 0. */
mo_rl_var mo_rl_tape_node_var(const mo_rl_tape *tape,
                              const mo_rl_tape_node *made);

/* Returns the buffer to which derivatives by a are added, zeroed on first use;
 * NULL: the tape has failed. */
mo_rl_real *mo_rl_tape_node_gradient(mo_rl_tape *tape, mo_rl_var a);

#endif
