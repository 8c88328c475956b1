/* SPDX-License-Identifier: Apache-2.0 */
/*
 * coarsen_map.h - map from the ops of a graph to those of a coarser one.
 *
 * Every step of coarsening makes a new graph and a map from the old one; maps
 * compose, so that a placement of the last graph can be expanded to the ops of
 * the first.
 */
#ifndef MO_COARSEN_COARSEN_MAP_H
#define MO_COARSEN_COARSEN_MAP_H

#include "base/error.h"
#include "graph/graph.h"

/* Targets other than a coarse op. */
enum {
    MO_COARSEN_MAP_REPLICATED =
        -1, /* free: executed wherever its result is needed */
    MO_COARSEN_MAP_CONSTANT = -2 /* computed before the first input arrives */
};

typedef struct mo_coarsen_map {
    int n_fine, n_coarse;
    int *coarse_of; /* by fine op: its coarse op, or one of the above */
    int *start;     /* members of coarse op c: member[start[c]..start[c+1]) */
    int *member;    /* fine ops, in topological order within each */
} mo_coarsen_map;

void mo_coarsen_map_free(mo_coarsen_map *map);

/* Allocates a map; the caller fills coarse_of, calls mo_coarsen_map_gather()
 * and frees the map with mo_coarsen_map_free(), which accepts NULL. */
mo_status mo_coarsen_map_new(int n_fine, int n_coarse, mo_coarsen_map **map,
                             mo_error *err);

/* Fills start and member from coarse_of. */
void mo_coarsen_map_gather(mo_coarsen_map *map);

/* Composes two maps: from first's fine ops to second's coarse ones. The caller
 * frees *map. */
mo_status mo_coarsen_map_compose(const mo_coarsen_map *first,
                                 const mo_coarsen_map *second,
                                 mo_coarsen_map **map, mo_error *err);

#endif
