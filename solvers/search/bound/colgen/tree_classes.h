/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timed_tree.h - the branches of a fork with what is equal in them told once.
 *
 * Where an op reads several that cannot be told apart, trees and all, one node
 * stands for them: what is cheapest for one is cheapest for each of them.
 */
#ifndef MO_SOLVERS_SEARCH_BOUND_COLGEN_TREE_CLASSES_H
#define MO_SOLVERS_SEARCH_BOUND_COLGEN_TREE_CLASSES_H

#include "base/error.h"
#include "solvers/search/bound/forkjoin/fork_join.h"

typedef struct mo_cg_tree_node {
    int op;          /* in the instance, one of those it stands for */
    int reader;      /* a node; MO_FREE: v, or nobody */
    int row, u_row;  /* as in fork.h */
    int class;       /* of the fork */
    int times;       /* equals of it that each of its readers reads */
    int total;       /* equals of it in one branch */
    int first_child; /* what it reads: a node, and on by next; -1: the end */
    int next;
} mo_cg_tree_node;

typedef struct mo_cg_tree {
    int n;
    mo_cg_tree_node *nodes; /* each in front of those that it reads */
    int *root;              /* by class */
    int *start;             /* by class, into node_of */
    int *node_of;           /* of op j of class c: node_of[start[c] + j] */
} mo_cg_tree;

mo_status mo_cg_tree_new(const mo_forkjoin *fork, mo_cg_tree **tree,
                         mo_error *err);
void mo_cg_tree_free(mo_cg_tree *tree);

#endif
