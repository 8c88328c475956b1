/* SPDX-License-Identifier: Apache-2.0 */
#include "cost/cluster/route.h"

#include <stdbool.h>
#include <stdio.h>

/* Names of each part that a message lists. */
enum { MAX_NAMES = 8, NAMES_SIZE = 384 };

static bool reaches(const mo_routes *routes, int from, int to)
{
    return from == to ||
           routes->routes[(size_t) from * (size_t) routes->n + (size_t) to]
                   .hops > 0;
}

/* Returns a device that does not reach all others, or -1. */
static int find_cut_off(const mo_routes *routes)
{
    for (int s = 0; s < routes->n; s++)
        for (int t = 0; t < routes->n; t++)
            if (!reaches(routes, s, t))
                return s;
    return -1;
}

/* Writes the names of the devices that s reaches, or of those it does not. */
static void name_part(const mo_cluster *cluster, const mo_routes *routes, int s,
                      bool reached, char *names)
{
    int n_left = 0;
    size_t length = 0;

    names[0] = '\0';
    for (int t = 0, n = 0; t < routes->n; t++) {
        if (reaches(routes, s, t) != reached)
            continue;
        if (n++ < MAX_NAMES)
            length += (size_t) snprintf(names + length, NAMES_SIZE - length,
                                        "%s%.32s", n > 1 ? ", " : "",
                                        cluster->devices[t].id);
        else
            n_left++;
    }
    if (n_left > 0)
        snprintf(names + length, NAMES_SIZE - length, " and %d more", n_left);
}

/*
 * The devices that s reaches, taken together, reach no others: else s would
 * reach those, too.
 */
mo_status mo_routes_connected(const mo_cluster *cluster,
                              const mo_routes *routes, mo_error *err)
{
    char reached[NAMES_SIZE], unreached[NAMES_SIZE];
    int s = find_cut_off(routes);

    if (s < 0)
        return MO_OK;
    name_part(cluster, routes, s, true, reached);
    name_part(cluster, routes, s, false, unreached);
    return mo_fail_at(err, MO_E_INPUT, cluster->file, 0,
                      "cluster is not connected: %s cannot reach %s; add a "
                      "link from one part to the other",
                      reached, unreached);
}
