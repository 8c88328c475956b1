/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "exec/discover/discover_internal.h"

static bool *entry(bool *owned, int rank, int gpu)
{
    return &owned[(size_t) rank * MO_DISCOVER_MAX_GPUS + (size_t) gpu];
}

static int count_owned(const bool *owned, int rank)
{
    int count = 0;

    for (int g = 0; g < MO_DISCOVER_MAX_GPUS; g++)
        count += owned[(size_t) rank * MO_DISCOVER_MAX_GPUS + (size_t) g];
    return count;
}

/* Where a rank has this GPU in its own list, or -1.  Without an address it is
 * nobody else's. */
static int find_gpu(const mo_discover_inventory *survey,
                    const mo_discover_inventory *seen_by, int gpu)
{
    uint64_t bus = seen_by->gpus[gpu].bus;

    if (survey == seen_by)
        return gpu;
    if (bus == 0 || strcmp(survey->machine, seen_by->machine) != 0)
        return -1;
    for (int g = 0; g < survey->n_gpus; g++)
        if (survey->gpus[g].bus == bus)
            return g;
    return -1;
}

static bool is_seen_before(const mo_discover_inventory *surveys, int rank,
                           int gpu)
{
    for (int r = 0; r < rank; r++)
        if (find_gpu(&surveys[r], &surveys[rank], gpu) >= 0)
            return true;
    return false;
}

/* To the rank that has the fewest so far, the first of these. */
static void give(const mo_discover_inventory *surveys, int n_ranks, int rank,
                 int gpu, bool *owned)
{
    int best = -1, best_gpu = -1, best_count = 0;

    for (int r = rank; r < n_ranks; r++) {
        int g = find_gpu(&surveys[r], &surveys[rank], gpu);
        int count = count_owned(owned, r);

        if (g >= 0 && (best < 0 || count < best_count)) {
            best = r;
            best_gpu = g;
            best_count = count;
        }
    }
    *entry(owned, best, best_gpu) = true;
}

void mo_discover_assign_gpus(const mo_discover_inventory *surveys, int n_ranks,
                             bool *owned)
{
    memset(owned, 0, (size_t) n_ranks * MO_DISCOVER_MAX_GPUS * sizeof *owned);
    for (int r = 0; r < n_ranks; r++)
        for (int g = 0; g < surveys[r].n_gpus; g++)
            if (!is_seen_before(surveys, r, g))
                give(surveys, n_ranks, r, g, owned);
}
