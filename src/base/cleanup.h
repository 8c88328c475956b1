/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cleanup.h - temporary files that a signal must not leave behind.
 *
 * While a path is kept here, a signal from outside that ends the process
 * (SIGINT, SIGTERM, SIGHUP and the like) removes the file before it does so.  A
 * program that handles or ignores one of these signals itself keeps its way.
 */
#ifndef MO_BASE_CLEANUP_H
#define MO_BASE_CLEANUP_H

/* path must stay where it is until it is dropped.  There is room for a few;
 * beyond that a signal leaves the file, which is all that happens. */
void mo_cleanup_register(const char *path);
void mo_cleanup_unregister(const char *path);

/* Removes what is kept: for a process that is about to end with _exit. */
void mo_cleanup_run(void);

/* For a command to call first: a reader that went away (SIGPIPE) or a file
 * that may not grow (SIGXFSZ) is from then on a failed write, told like any
 * other. */
void mo_cleanup_ignore_write_signals(void);

/* A command may be started without standard input, output or error.  Files and
 * connections shall not take their places: what is said would go there. */
void mo_cleanup_reserve_standard_fds(void);

#endif
