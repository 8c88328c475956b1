/* SPDX-License-Identifier: Apache-2.0 */
/*
 * library_signals.h - SIGINT and SIGTERM in the child that solves by a
 * library: a request to stop and write the incumbent.
 *
 * Signal handlers are per process, so this is for a child that does nothing
 * else.
 */
#ifndef MO_SOLVERS_PLUGINS_LIBRARY_SIGNALS_H
#define MO_SOLVERS_PLUGINS_LIBRARY_SIGNALS_H

#include <stdbool.h>

/* From here on these signals do not end the process. */
void mo_library_signals_catch(void);

bool mo_library_signals_pending(void);

/*
 * From here on the handler calls interrupt(context), and again every second
 * until mo_library_signals_end(): libraries lose a request that comes before
 * they start.
 */
void mo_library_signals_begin(void (*interrupt)(void *context), void *context);
void mo_library_signals_end(void);

#endif
