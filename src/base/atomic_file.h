/* SPDX-License-Identifier: Apache-2.0 */
/*
 * atomic_file.h - atomic file replacement: a file appears whole or not at all.
 * Standard output and devices are written directly.
 *
 * A file is written without a name in the folder of its own (O_TMPFILE), so
 * that nothing is left of it when the process is killed, and named when it is
 * complete. Where a file is replaced, or a file system has no unnamed files,
 * the new one has a temporary name until it is renamed: ".NAME.moirai-" and six
 * letters. An interrupt removes it; one that a killed process has left is not
 * locked (flock) any more, and the next file opened for that path removes it.
 * A symbolic link is followed: the file it names is replaced, the link stays.
 *
 * A file that is reported as written survives the end of the process, not a
 * power failure in the next seconds: nothing is synchronized to the disk.
 */
#ifndef MO_BASE_ATOMIC_FILE_H
#define MO_BASE_ATOMIC_FILE_H

#include <sys/types.h>

#include "base/error.h"

typedef struct mo_atomic_file mo_atomic_file;

/* Opens path; "-" or NULL is standard output. A directory, or a file without
 * write permission, is an error now, before any work goes into its content. On
 * success the caller owns *target and ends it with mo_atomic_file_commit() or
 * mo_atomic_file_abandon(). */
mo_status mo_atomic_file_open(const char *path, mo_atomic_file **target,
                              mo_error *err);

/* Opens a new file with this mode; a file of that name, also one that is made
 * before the commit, is an error and stays. */
mo_status mo_atomic_file_create(const char *path, mode_t mode,
                                mo_atomic_file **target, mo_error *err);

/* Returns the descriptor to write to; target owns it. */
int mo_atomic_file_fd(const mo_atomic_file *target);

/* Fills err for a write that failed with this errno and returns its status. */
mo_status mo_atomic_file_fail(const mo_atomic_file *target, int failure,
                              mo_error *err);

/* Closes and renames the file or, when failure is the errno of a failed write,
 * removes it and returns that failure. Frees target in any case. */
mo_status mo_atomic_file_commit(mo_atomic_file *target, int failure,
                                mo_error *err);

/* Closes and removes the temporary, and frees target. NULL is allowed. */
void mo_atomic_file_abandon(mo_atomic_file *target);

#endif
