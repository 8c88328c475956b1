/* SPDX-License-Identifier: Apache-2.0 */
/*
 * atomic_file.h - atomic file replacement: a file appears whole or not at all.
 * Standard output and devices are written directly.
 *
 * A file is written under a temporary name beside its own, ".NAME.moirai-" and
 * six letters, and renamed when it is complete. An interrupt removes the
 * temporary; only a signal that cannot be caught leaves it. A symbolic link is
 * followed: the file it names is replaced, the link stays.
 */
#ifndef MO_BASE_ATOMIC_FILE_H
#define MO_BASE_ATOMIC_FILE_H

#include "base/error.h"

typedef struct mo_atomic_file mo_atomic_file;

/* Opens path; "-" or NULL is standard output. A directory, or a file without
 * write permission, is an error now, before any work goes into its content. On
 * success the caller owns *target and ends it with mo_atomic_file_commit() or
 * mo_atomic_file_abandon(). */
mo_status mo_atomic_file_open(const char *path, mo_atomic_file **target,
                              mo_error *err);

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
