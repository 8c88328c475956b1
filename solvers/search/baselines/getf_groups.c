/* SPDX-License-Identifier: Apache-2.0 */
#include "solvers/search/baselines/getf_groups.h"

#include <math.h>
#include <stdlib.h>

#include "schedule/heuristic/single_device.h"

/* Tolerance of a solver's half, and of rounding in powers of gamma. */
#define TOLERANCE 1e-6

mo_status mo_baseline_getf_groups_make(const mo_instance *x,
                                       mo_baseline_getf_groups *groups,
                                       mo_error *err)
{
    double slowest_ns = 0;
    size_t m = (size_t) x->n_devices;
    /* INFINITY: a single group. */
    double gamma = x->n_devices > 2
                       ? log2(x->n_devices) / log2(log2(x->n_devices))
                       : INFINITY;

    *groups = (mo_baseline_getf_groups){
        .n = (isinf(gamma)
                  ? 1
                  : (int) ceil(log2(x->n_devices) / log2(gamma) - TOLERANCE))
    };
    groups->of_device = calloc(m + 1, sizeof *groups->of_device);
    groups->speed = calloc(m + 1, sizeof *groups->speed);
    groups->total = calloc((size_t) groups->n + 1, sizeof *groups->total);
    if (!groups->of_device || !groups->speed || !groups->total) {
        mo_baseline_getf_groups_clear(groups);
        return mo_fail_memory(err);
    }
    /* A device on which no op takes time is faster than all others. */
    for (int k = 0; k < x->n_devices; k++)
        slowest_ns = fmax(slowest_ns, (double) mo_single_device_ns(x, k));
    for (int k = 0; k < x->n_devices; k++) {
        double ns = (double) mo_single_device_ns(x, k);

        groups->speed[k] = ns > 0           ? slowest_ns / ns
                           : slowest_ns > 0 ? INFINITY
                                            : 1;
    }
    for (int k = 0; k < x->n_devices; k++) {
        double speed = groups->speed[k];
        double next = gamma;
        int group = 0;

        while (group < groups->n - 1 && speed >= next * (1 - TOLERANCE)) {
            group++;
            next *= gamma;
        }
        groups->of_device[k] = group;
        groups->total[groups->of_device[k]] += groups->speed[k];
    }
    return MO_OK;
}

void mo_baseline_getf_groups_clear(mo_baseline_getf_groups *groups)
{
    free(groups->of_device);
    free(groups->speed);
    free(groups->total);
    *groups = (mo_baseline_getf_groups){ 0 };
}

/* Returns the last group with half of the mass in it or behind it. */
static int last_with_half(const mo_baseline_getf_groups *groups,
                          const double *mass, int n_devices)
{
    int group = groups->n;
    double behind = 0;

    while (group > 0 && behind < 0.5 - TOLERANCE) {
        group--;
        for (int k = 0; k < n_devices; k++)
            if (groups->of_device[k] == group)
                behind += mass[k];
    }
    return group;
}

int mo_baseline_getf_group_of(const mo_baseline_getf_groups *groups,
                              const double *mass, int n_devices)
{
    int best = groups->n - 1;

    for (int g = best; g >= last_with_half(groups, mass, n_devices); g--)
        if (groups->total[g] > groups->total[best])
            best = g;
    return best;
}
