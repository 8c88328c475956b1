/* SPDX-License-Identifier: Apache-2.0 */
/*
 * library_stop.h - SIGINT and SIGTERM in the child that solves by a library: a
 * wish to stop and write down what is there.
 *
 * A process has one set of signal handlers, so this is for a child that does
 * nothing else.
 */
#ifndef MO_SOLVERS_PLUGINS_LIBRARY_SIGNALS_H
#define MO_SOLVERS_PLUGINS_LIBRARY_SIGNALS_H

#include <stdbool.h>

/* From here on these signals do not end us. */
void mo_library_signals_catch(void);

bool mo_library_signals_pending(void);

/*
 * From here on interrupt(context) is called in the handler, and again every
 * second until mo_library_signals_end: libraries forget a wish that comes while
 * they are only about to begin.
 */
void mo_library_signals_begin(void (*interrupt)(void *context), void *context);
void mo_library_signals_end(void);

#endif
