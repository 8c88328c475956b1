/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "solvers/plugins/library_incumbent.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Pause after a write: multiple of its duration, and minimum. */
static const double wait_factor = 50, wait_s = 0.1;

static double now_s(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double) now.tv_sec + (double) now.tv_nsec * 1e-9;
}

mo_status mo_library_incumbent_new(
    const char *folder, int n, const char *(*name)(void *context, int column),
    void *context, mo_library_incumbent *best, mo_error *err)
{
    double *values = calloc((size_t) n + 1, sizeof *values);

    if (!values)
        return mo_fail_memory(err);
    *best = (mo_library_incumbent){ .folder = folder, .values = values };
    best->answer = (mo_library_solution){ .claim = MO_SOLUTION_STATUS_FEASIBLE,
                                          .has_objective = true,
                                          .has_bound = true,
                                          .n = n,
                                          .values = values,
                                          .name = name,
                                          .context = context };
    return MO_OK;
}

void mo_library_incumbent_clear(mo_library_incumbent *best)
{
    free(best->values);
    *best = (mo_library_incumbent){ 0 };
}

void mo_library_incumbent_update(mo_library_incumbent *best, double objective,
                                 double bound, const double *values)
{
    memcpy(best->values, values, (size_t) best->answer.n * sizeof *values);
    best->answer.objective = objective;
    best->answer.bound = bound;
    best->unwritten = true;
    mo_library_incumbent_flush(best);
}

void mo_library_incumbent_flush(mo_library_incumbent *best)
{
    double begin_s, took_s;

    if (!best->unwritten)
        return;
    begin_s = now_s();
    if (begin_s < best->next_s)
        return;
    mo_library_solution_write(best->folder, &best->answer, NULL);
    best->unwritten = false;
    took_s = now_s() - begin_s;
    best->next_s = begin_s + took_s + wait_factor * took_s + wait_s;
}
