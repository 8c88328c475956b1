/*
 * live.h - the line that says how far solvers are: incumbent, bound, gap,
 * seconds; only on a terminal.
 */
#ifndef MO_DRIVER_PROGRESS_LINE_H
#define MO_DRIVER_PROGRESS_LINE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "driver/log.h"
#include "solvers/plugins/solver.h"

typedef struct mo_live {
    bool shown, enabled;
    bool log; /* lines of the solvers' logs are shown instead */
    int64_t unit_ns;
    double begin_s, next_s;
    mo_step best; /* of all solvers */
    pthread_mutex_t lock;
} mo_live;

void mo_live_begin(mo_live *live, int64_t unit_ns, const mo_talk *talk);

/* As mo_run_options wants them, from any thread; context is the mo_live. */
void mo_live_step(void *context, const mo_solver *solver, const mo_step *step);
void mo_live_line(void *context, const mo_solver *solver, const char *text);

/* Takes the line away. */
void mo_live_end(mo_live *live);

#endif
