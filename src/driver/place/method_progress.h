/* SPDX-License-Identifier: Apache-2.0 */
/*
 * method_progress.h - progress of a method: one line on a terminal, or with -v
 * a line for every improvement.
 */
#ifndef MO_DRIVER_PLACE_METHOD_PROGRESS_H
#define MO_DRIVER_PLACE_METHOD_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

#include "driver/log.h"
#include "solvers/search/method.h"

typedef struct mo_place_progress {
    const char *method;
    const mo_driver_log *logger;
    bool shows, lists; /* one rewritten line; or one per improvement */
    bool shown;
    double next_s;                 /* earliest time of the next update */
    int64_t makespan_ns, lower_ns; /* last printed */
} mo_place_progress;

void mo_place_progress_begin(mo_place_progress *news, const char *method,
                             const mo_driver_log *logger);

/* Callback of mo_method_task; context is the mo_place_progress. */
void mo_place_progress_update(void *context, const mo_method_progress *news);

/* Erases the line. */
void mo_place_progress_end(mo_place_progress *news);

#endif
