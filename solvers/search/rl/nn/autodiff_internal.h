/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tape_parts.h - the inside of tape.h.
 *
 * Each kind of matrix is made in one place, which also knows the way back: from
 * the gradient of what was made to those of what it was made of.
 */
#ifndef MO_SOLVERS_SEARCH_RL_NN_AUTODIFF_INTERNAL_H
#define MO_SOLVERS_SEARCH_RL_NN_AUTODIFF_INTERNAL_H

#include "solvers/search/rl/nn/autodiff.h"

typedef struct mo_rl_tape_node mo_rl_tape_node;
typedef void mo_rl_tape_backward_fn(mo_rl_tape *tape,
                                    const mo_rl_tape_node *made);

struct mo_rl_tape_node {
    int rows, cols;
    mo_rl_real *values;           /* of a weight its own: nobody writes there */
    const mo_rl_param *weight;    /* or NULL */
    const mo_rl_real *turned;     /* NULL: nobody asked for it yet */
    mo_rl_real *gradient;         /* NULL: not yet; a way back may spoil it */
    mo_rl_tape_backward_fn *back; /* NULL: nothing comes before it */
    mo_rl_var a, b;
    const mo_rl_var *parts; /* of several */
    int n;                  /* of parts; or where columns begin; or a third */
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

/* bytes that live until the tape is wiped; NULL: the tape has failed. */
void *mo_rl_tape_alloc(mo_rl_tape *tape, size_t bytes);
/* A copy that does, where somebody goes back; else NULL. */
const void *mo_rl_tape_save(mo_rl_tape *tape, const void *data, size_t bytes);

/* A new matrix of whatever, with its way back; NULL: the tape has failed.  What
 * was got of other nodes before does not stay where it is. */
mo_rl_tape_node *mo_rl_tape_new_node(mo_rl_tape *tape, int rows, int cols,
                                     mo_rl_tape_backward_fn *back);
mo_rl_tape_node *mo_rl_tape_new_zero_node(mo_rl_tape *tape, int rows, int cols,
                                          mo_rl_tape_backward_fn *back);
/* The number of the one made last, or 0. */
mo_rl_var mo_rl_tape_node_var(const mo_rl_tape *tape,
                              const mo_rl_tape_node *made);

/* Where the derivatives by a are added to. */
mo_rl_real *mo_rl_tape_node_gradient(mo_rl_tape *tape, mo_rl_var a);

#endif
