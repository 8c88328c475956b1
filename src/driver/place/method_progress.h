/* SPDX-License-Identifier: Apache-2.0 */
/*
 * place_news.h - what a method has so far: one line on a terminal, or a line
 * for every improvement where the user wants to hear of the work.
 */
#ifndef MO_DRIVER_PLACE_METHOD_PROGRESS_H
#define MO_DRIVER_PLACE_METHOD_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

#include "driver/log.h"
#include "solvers/search/method.h"

typedef struct mo_place_progress {
    const char *method;
    const mo_driver_log *talk;
    bool shows, lists; /* a line that is rewritten; or one for each */
    bool shown;
    double next_s;                 /* not before */
    int64_t makespan_ns, lower_ns; /* that were told */
} mo_place_progress;

void mo_place_progress_begin(mo_place_progress *news, const char *method,
                             const mo_driver_log *talk);

/* As a mo_method_task wants it; context is the mo_place_progress. */
void mo_place_progress_update(void *context, const mo_method_progress *news);

/* Takes the line away. */
void mo_place_progress_end(mo_place_progress *news);

#endif
