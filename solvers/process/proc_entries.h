/* SPDX-License-Identifier: Apache-2.0 */
/*
 * proc_entries.h - numeric entries of a folder of /proc: processes, open
 * files.
 *
 * Allocates nothing: in a process forked from a multi-threaded one a lock may
 * be held forever.
 */
#ifndef MO_SOLVERS_PROCESS_PROC_ENTRIES_H
#define MO_SOLVERS_PROCESS_PROC_ENTRIES_H

/* Calls see for each of them; see may close the descriptor it gets. The
 * descriptor of the folder itself is left out. Does nothing where there is no
 * such folder. */
void mo_proc_entries_each(const char *folder,
                          void (*see)(int number, void *context),
                          void *context);

#endif
