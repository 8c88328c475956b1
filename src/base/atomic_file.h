/* SPDX-License-Identifier: Apache-2.0 */
/*
 * target.h - where an output goes: standard output, a device, or a file that
 * appears whole or not at all.
 *
 * A file is written under a temporary name beside its own, ".NAME.moirai-" and
 * six letters, and renamed when all is in it.  An interrupt removes the
 * temporary; only a kill that cannot be caught leaves it.  A link is followed:
 * the file it names is replaced, the link stays.
 */
#ifndef MO_BASE_ATOMIC_FILE_H
#define MO_BASE_ATOMIC_FILE_H

#include "base/error.h"

typedef struct mo_atomic_file mo_atomic_file;

/* "-" or NULL is standard output.  A folder, or a file that may not be
 * written, is an error now, before any work went into its content. */
mo_status mo_atomic_file_open(const char *path, mo_atomic_file **target,
                              mo_error *err);

/* Where to write. */
int mo_atomic_file_fd(const mo_atomic_file *target);

/* Tells of a write that went wrong with this errno. */
mo_status mo_atomic_file_fail(const mo_atomic_file *target, int failure,
                              mo_error *err);

/* Closes and puts the file in its place, or, when failure is the errno of a
 * write that went wrong, removes it and tells.  target is gone afterwards. */
mo_status mo_atomic_file_commit(mo_atomic_file *target, int failure,
                                mo_error *err);

/* Closes and removes the temporary.  NULL is allowed. */
void mo_atomic_file_abandon(mo_atomic_file *target);

#endif
