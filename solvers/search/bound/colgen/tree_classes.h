/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tree_classes.h - the branches of a fork-join subgraph with isomorphic
 * subtrees merged.
 *
 * Where an op reads several ops whose subtrees are isomorphic, one node
 * represents them all: a placement that is cheapest for one is cheapest for
 * each.
 */
#ifndef MO_SOLVERS_SEARCH_BOUND_COLGEN_TREE_CLASSES_H
#define MO_SOLVERS_SEARCH_BOUND_COLGEN_TREE_CLASSES_H

#include "base/error.h"
#include "solvers/search/bound/forkjoin/fork_join.h"

typedef struct mo_cg_tree_node {
    int op;          /* of the instance, one of those it represents */
    int reader;      /* a node; MO_FREE: v, or none */
    int row, u_row;  /* rows of transfer times, as in fork_join.h */
    int class;       /* of the fork */
    int times;       /* equals that each of its readers reads */
    int total;       /* equals in one branch */
    int first_child; /* inputs: first child, then by next; -1: end */
    int next;
} mo_cg_tree_node;

typedef struct mo_cg_tree {
    int n;
    mo_cg_tree_node *nodes; /* in topological order from the roots */
    int *root;              /* by class */
    int *start;             /* by class, into node_of */
    int *node_of;           /* of op j of class c: node_of[start[c] + j] */
} mo_cg_tree;

/* Allocates the merged trees of all classes; the caller frees *tree with
 * mo_cg_tree_free(), which accepts NULL.  Returns MO_OK unless memory runs
 * out. */
mo_status mo_cg_tree_new(const mo_forkjoin *fork, mo_cg_tree **tree,
                         mo_error *err);
void mo_cg_tree_free(mo_cg_tree *tree);

#endif
