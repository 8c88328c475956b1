/*
 * cleanup.h - temporary files that a signal must not leave behind.
 *
 * While a path is kept here, SIGINT, SIGTERM and SIGHUP remove the file before
 * they end the process as they would have done anyway.  A program that handles
 * or ignores one of these signals itself keeps its way.
 */
#ifndef MO_BASE_CLEANUP_H
#define MO_BASE_CLEANUP_H

/* path must stay where it is until it is dropped.  There is room for a few;
 * beyond that a signal leaves the file, which is all that happens. */
void mo_cleanup_keep(const char *path);
void mo_cleanup_drop(const char *path);

#endif
