/* SPDX-License-Identifier: Apache-2.0 */
/*
 * numbered.h - the entries of a folder of /proc that are numbers: processes,
 * open files.
 *
 * Allocates nothing, so that a process forked from one with several threads may
 * look, whatever those held at the time.
 */
#ifndef MO_SOLVERS_PROCESS_PROC_ENTRIES_H
#define MO_SOLVERS_PROCESS_PROC_ENTRIES_H

/* Tells each of them; see may close the file it is told of.  The file that the
 * folder itself is read by is left out.  Nothing where there is no such
 * folder. */
void mo_proc_entries_each(const char *folder,
                          void (*see)(int number, void *context),
                          void *context);

#endif
