/* SPDX-License-Identifier: Apache-2.0 */
/*
 * workdir.h - a private temporary folder for one run, removed afterwards.
 *
 * It is under TMPDIR, and locked (flock), which ends with the process;
 * unlocked folders were left by a run that was killed, and the next run
 * removes them. A signal from outside that ends the process removes it first
 * (base/cleanup.h).
 */
#ifndef MO_SOLVERS_PROCESS_WORKDIR_H
#define MO_SOLVERS_PROCESS_WORKDIR_H

#include "base/error.h"
#include "base/out.h"

typedef struct mo_workdir mo_workdir;

mo_status mo_workdir_new(mo_workdir **workdir, mo_error *err);
const char *mo_workdir_path(const mo_workdir *workdir);

/* Returns the path of a file in it, which the caller frees; NULL when out of
 * memory. */
char *mo_workdir_file(const mo_workdir *workdir, const char *name);

/* Opens a new file folder/name for writing; the caller closes *out. */
mo_status mo_workdir_create_file(const char *folder, const char *name,
                                 mo_out **out, mo_error *err);

/* Removes it with its contents and frees it. NULL is allowed. */
void mo_workdir_free(mo_workdir *workdir);

/* Removes any folder with its contents, as far as possible. Symbolic links in
 * it are removed, not followed. Signal handlers may call it. */
void mo_workdir_remove(const char *path);

#endif
