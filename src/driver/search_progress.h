/* SPDX-License-Identifier: Apache-2.0 */
/*
 * search_progress.h - progress of a search: incumbent, bound and gap, in the
 * progress line of a terminal, or with -v a line of the log for each
 * improvement.
 */
#ifndef MO_DRIVER_SEARCH_PROGRESS_H
#define MO_DRIVER_SEARCH_PROGRESS_H

#include <stdint.h>

#include "driver/log.h"
#include "solvers/search/method.h"

typedef struct mo_search_progress {
    mo_progress line;
    const mo_driver_log *logger;
    const char *what;              /* "moirai", "searching" */
    int64_t makespan_ns, lower_ns; /* best so far */
} mo_search_progress;

/* Each call of begin has one of end. what is borrowed. */
void mo_search_progress_begin(mo_search_progress *progress,
                              const mo_driver_log *logger, const char *what);
void mo_search_progress_end(mo_search_progress *progress);

/* Callback of mo_method_task; context is the mo_search_progress. */
void mo_search_progress_report(void *context, const mo_method_progress *news);

/* Sets the detail of a step: "best 1.3 ms, bound 1.2 ms, gap 7.69 %", and step
 * behind it unless that is NULL. INT64_MAX is no incumbent, 0 no bound. */
void mo_search_progress_detail(mo_progress *line, int64_t best_ns,
                               int64_t bound_ns, const char *step);

#endif
