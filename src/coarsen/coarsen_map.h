/* SPDX-License-Identifier: Apache-2.0 */
/*
 * map.h - where the ops of a graph went when it was made coarser.
 *
 * Every step of coarsening gives a new graph and a map from the old one; maps
 * compose, so that a placement of the last graph can be carried back to the ops
 * the user knows.
 */
#ifndef MO_COARSEN_COARSEN_MAP_H
#define MO_COARSEN_COARSEN_MAP_H

#include "base/error.h"
#include "graph/graph.h"

/* Where an op can go other than into a coarse op. */
enum {
    MO_COARSEN_MAP_REPLICATED =
        -1, /* it costs nothing: done wherever it is needed */
    MO_COARSEN_MAP_CONSTANT = -2 /* computed before the first input arrives */
};

typedef struct mo_coarsen_map {
    int n_fine, n_coarse;
    int *coarse_of; /* by fine op: its coarse op, or one of the above */
    int *start;     /* members of coarse op c: member[start[c]..start[c+1]) */
    int *member;    /* fine ops, in topological order within each */
} mo_coarsen_map;

void mo_coarsen_map_free(mo_coarsen_map *map);

/* A map with room for its numbers; fill coarse_of, then mo_coarsen_map_gather.
 */
mo_status mo_coarsen_map_new(int n_fine, int n_coarse, mo_coarsen_map **map,
                             mo_error *err);

/* Fills start and member from coarse_of. */
void mo_coarsen_map_gather(mo_coarsen_map *map);

/* The identity on n ops. */
mo_status mo_coarsen_map_identity(int n, mo_coarsen_map **map, mo_error *err);

/* first, then second: from first's fine ops to second's coarse ones. */
mo_status mo_coarsen_map_compose(const mo_coarsen_map *first,
                                 const mo_coarsen_map *second,
                                 mo_coarsen_map **map, mo_error *err);

#endif
