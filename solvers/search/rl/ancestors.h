/*
 * reach.h - who comes before whom, as lists to sum over.
 *
 * Vertices are numbered so that edges go up.  All pairs of a large graph are
 * too many: only those at most a window apart are looked at.  What lies between
 * two of them on any path has a number between theirs, so within the window
 * nothing is missed.
 */
#ifndef MO_SOLVERS_SEARCH_RL_ANCESTORS_H
#define MO_SOLVERS_SEARCH_RL_ANCESTORS_H

#include "base/error.h"

/* Of vertex v: list[start[v]], ..., list[start[v + 1] - 1]. */
typedef struct mo_lists {
    int *start, *list;
} mo_lists;

typedef struct mo_reach {
    mo_lists before, after, beside; /* beside: neither of the two */
} mo_reach;

/* n vertices, and who each is made from; others of higher numbers are not
 * looked at.  Begins as zeros. */
mo_status mo_reach_make(int n, const mo_lists *parents, int window,
                        mo_reach *reach, mo_error *err);
void mo_reach_clear(mo_reach *reach);

void mo_lists_clear(mo_lists *lists);

/* List i of n becomes list which[i] of others, its vertices by[i] further on.
 */
mo_status mo_lists_move(const mo_lists *from, int n, const int *which,
                        const int *by, mo_lists *to, mo_error *err);
mo_status mo_reach_move(const mo_reach *from, int n, const int *which,
                        const int *by, mo_reach *to, mo_error *err);

#endif
