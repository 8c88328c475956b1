/*
 * tape_parts.h - the inside of tape.h.
 *
 * Each kind of matrix is made in one place, which also knows the way back: from
 * the gradient of what was made to those of what it was made of.
 */
#ifndef MO_SOLVERS_SEARCH_RL_NN_AUTODIFF_INTERNAL_H
#define MO_SOLVERS_SEARCH_RL_NN_AUTODIFF_INTERNAL_H

#include "solvers/search/rl/nn/autodiff.h"

typedef struct mo_tape_node mo_tape_node;
typedef void mo_tape_way_back(mo_tape *tape, const mo_tape_node *made);

struct mo_tape_node {
    int rows, cols;
    mo_real *values;         /* of a weight its own: nobody writes there */
    const mo_weight *weight; /* or NULL */
    const mo_real *turned;   /* NULL: nobody asked for it yet */
    mo_real *gradient;       /* NULL: not yet; a way back may spoil it */
    mo_tape_way_back *back;  /* NULL: nothing comes before it */
    mo_var a, b;
    const mo_var *parts; /* of several */
    int n;               /* of parts; or where columns begin; or a third */
    const int *pick, *list;
    const double *factor;
    double by;
};

struct mo_tape {
    const mo_weights *weights;
    mo_real *gradient;
    mo_tape_node *nodes;
    int n_nodes, nodes_room;
    struct mo_tape_block *blocks, *current;
    size_t bytes;
    bool failed;
};

static inline mo_tape_node *mo_tape_at(const mo_tape *tape, mo_var a)
{
    return &tape->nodes[a];
}

static inline size_t mo_tape_size(const mo_tape_node *node)
{
    return (size_t) node->rows * (size_t) node->cols;
}

/* bytes that live until the tape is wiped; NULL: the tape has failed. */
void *mo_tape_memory(mo_tape *tape, size_t bytes);
/* A copy that does, where somebody goes back; else NULL. */
const void *mo_tape_kept(mo_tape *tape, const void *data, size_t bytes);

/* A new matrix of whatever, with its way back; NULL: the tape has failed.  What
 * was got of other nodes before does not stay where it is. */
mo_tape_node *mo_tape_make(mo_tape *tape, int rows, int cols,
                           mo_tape_way_back *back);
mo_tape_node *mo_tape_make_zeros(mo_tape *tape, int rows, int cols,
                                 mo_tape_way_back *back);
/* The number of the one made last, or 0. */
mo_var mo_tape_made(const mo_tape *tape, const mo_tape_node *made);

/* Where the derivatives by a are added to. */
mo_real *mo_tape_gradient_of(mo_tape *tape, mo_var a);

#endif
