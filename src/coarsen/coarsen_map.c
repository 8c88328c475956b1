/* SPDX-License-Identifier: Apache-2.0 */
#include "coarsen/coarsen_map.h"

#include <stdlib.h>

void mo_coarsen_map_free(mo_coarsen_map *map)
{
    if (!map)
        return;
    free(map->coarse_of);
    free(map->start);
    free(map->member);
    free(map);
}

mo_status mo_coarsen_map_new(int n_fine, int n_coarse, mo_coarsen_map **map,
                             mo_error *err)
{
    mo_coarsen_map *made = calloc(1, sizeof *made);

    if (!made)
        return mo_fail_memory(err);
    made->n_fine = n_fine;
    made->n_coarse = n_coarse;
    made->coarse_of = calloc((size_t) n_fine + 1, sizeof *made->coarse_of);
    made->start = calloc((size_t) n_coarse + 2, sizeof *made->start);
    made->member = calloc((size_t) n_fine + 1, sizeof *made->member);
    if (!made->coarse_of || !made->start || !made->member) {
        mo_coarsen_map_free(made);
        return mo_fail_memory(err);
    }
    *map = made;
    return MO_OK;
}

/* Counting sort by coarse op. start[c + 1] first counts c's members, then
 * serves as their cursor, and so ends as the start of the next. */
void mo_coarsen_map_gather(mo_coarsen_map *map)
{
    int *start = map->start;

    for (int c = 0; c < map->n_coarse + 2; c++)
        start[c] = 0;
    for (int i = 0; i < map->n_fine; i++)
        if (map->coarse_of[i] >= 0)
            start[map->coarse_of[i] + 2]++;
    for (int c = 2; c < map->n_coarse + 2; c++)
        start[c] += start[c - 1];
    for (int i = 0; i < map->n_fine; i++)
        if (map->coarse_of[i] >= 0)
            map->member[start[map->coarse_of[i] + 1]++] = i;
}

mo_status mo_coarsen_map_compose(const mo_coarsen_map *first,
                                 const mo_coarsen_map *second,
                                 mo_coarsen_map **map, mo_error *err)
{
    mo_status status =
        mo_coarsen_map_new(first->n_fine, second->n_coarse, map, err);

    if (status != MO_OK)
        return status;
    for (int i = 0; i < first->n_fine; i++) {
        int middle = first->coarse_of[i];

        (*map)->coarse_of[i] = middle < 0 ? middle : second->coarse_of[middle];
    }
    mo_coarsen_map_gather(*map);
    return MO_OK;
}
