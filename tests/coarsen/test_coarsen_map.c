/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of coarsen/coarsen_map.h. */
#include "coarsen/coarsen_map.h"

#include "tests/support/graphs.h"
#include "tests/support/suite.h"

static mo_coarsen_map *map_of(const int *coarse_of, int n_fine, int n_coarse)
{
    mo_coarsen_map *map = NULL;

    MUST(mo_coarsen_map_new(n_fine, n_coarse, &map, &err));
    for (int i = 0; i < n_fine; i++)
        map->coarse_of[i] = coarse_of[i];
    mo_coarsen_map_gather(map);
    return map;
}

/* Both directions agree, and members are in topological order. */
static void must_agree(const mo_coarsen_map *map)
{
    int gone = 0;

    ck_assert_int_eq(map->start[0], 0);
    for (int c = 0; c < map->n_coarse; c++)
        for (int k = map->start[c]; k < map->start[c + 1]; k++) {
            ck_assert_int_eq(map->coarse_of[map->member[k]], c);
            ck_assert(k == map->start[c] ||
                      map->member[k - 1] < map->member[k]);
        }
    for (int i = 0; i < map->n_fine; i++)
        gone += map->coarse_of[i] < 0;
    ck_assert_int_eq(map->start[map->n_coarse], map->n_fine - gone);
}

START_TEST(members_are_gathered_by_coarse_op)
{
    static const int coarse_of[] = {
        1, 0, MO_COARSEN_MAP_CONSTANT, 1, 3, 0, 1
    };
    static const int members[] = { 1, 5, 0, 3, 6, 4 };
    mo_coarsen_map *map = map_of(coarse_of, COUNT(coarse_of), 4);

    must_agree(map);
    for (int k = 0; k < COUNT(members); k++)
        ck_assert_int_eq(map->member[k], members[k]);
    ck_assert_int_eq(map->start[2], map->start[3]); /* no members */
    mo_coarsen_map_free(map);
}
END_TEST

START_TEST(an_empty_map_is_a_map)
{
    mo_coarsen_map *map = map_of(NULL, 0, 0);

    must_agree(map);
    mo_coarsen_map_free(map);
    mo_coarsen_map_free(NULL);
}
END_TEST

/* Targets other than an op are kept. */
START_TEST(maps_compose)
{
    static const int first_of[] = { 0, 1, MO_COARSEN_MAP_REPLICATED,
                                    2, 2, MO_COARSEN_MAP_CONSTANT };
    static const int second_of[] = { 1, MO_COARSEN_MAP_REPLICATED, 0 };
    static const int wanted[] = {
        1, MO_COARSEN_MAP_REPLICATED, MO_COARSEN_MAP_REPLICATED, 0,
        0, MO_COARSEN_MAP_CONSTANT
    };
    mo_coarsen_map *first = map_of(first_of, COUNT(first_of), 3);
    mo_coarsen_map *second = map_of(second_of, COUNT(second_of), 2);
    mo_coarsen_map *map = NULL;

    MUST(mo_coarsen_map_compose(first, second, &map, &err));
    must_agree(map);
    ck_assert_int_eq(map->n_fine, COUNT(wanted));
    ck_assert_int_eq(map->n_coarse, 2);
    for (int i = 0; i < COUNT(wanted); i++)
        ck_assert_int_eq(map->coarse_of[i], wanted[i]);
    mo_coarsen_map_free(map);
    mo_coarsen_map_free(second);
    mo_coarsen_map_free(first);
}
END_TEST

START_TEST(any_map_gathers_its_members)
{
    test_random random = { (uint64_t) _i };
    int n_fine = random_below(&random, 50);
    int n_coarse = 1 + random_below(&random, 10);
    int coarse_of[50];
    mo_coarsen_map *map;

    for (int i = 0; i < n_fine; i++)
        coarse_of[i] = random_below(&random, n_coarse + 2) - 2;
    map = map_of(coarse_of, n_fine, n_coarse);
    must_agree(map);
    mo_coarsen_map_free(map);
}
END_TEST

SUITE(coarsen_map)
{
    TEST(members_are_gathered_by_coarse_op);
    TEST(an_empty_map_is_a_map);
    TEST(maps_compose);
    SOME(any_map_gathers_its_members, 200, 10);
}
