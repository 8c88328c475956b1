/* SPDX-License-Identifier: Apache-2.0 */
/*
 * progress_line.h - progress of the solvers in one line of a terminal:
 * incumbent, bound, gap, seconds.
 */
#ifndef MO_DRIVER_PROGRESS_LINE_H
#define MO_DRIVER_PROGRESS_LINE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "driver/log.h"
#include "solvers/plugins/solver.h"

typedef struct mo_progress_line {
    bool shown, enabled;
    bool log; /* print the solvers' logs instead */
    int64_t unit_ns;
    double begin_s, next_s;
    mo_solver_progress best; /* over all solvers */
    pthread_mutex_t lock;
} mo_progress_line;

void mo_progress_line_begin(mo_progress_line *live, int64_t unit_ns,
                            const mo_driver_log *logger);

/* Callbacks for mo_solver_run_options, thread-safe; context is the
 * mo_progress_line. */
void mo_progress_line_update(void *context, const mo_solver *solver,
                             const mo_solver_progress *step);
void mo_progress_line_log(void *context, const mo_solver *solver,
                          const char *text);

/* Erases the line. */
void mo_progress_line_end(mo_progress_line *live);

#endif
