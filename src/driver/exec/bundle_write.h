/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bundle_write.h - writer of bundles (driver/bundle.h).
 */
#ifndef MO_DRIVER_EXEC_BUNDLE_WRITE_H
#define MO_DRIVER_EXEC_BUNDLE_WRITE_H

#include "base/error.h"
#include "driver/exec/exec_job.h"
#include "driver/exec/exec_options.h"

/* Packs the valid job, which was loaded from the file at path, into the archive
 * o->bundle: its files and, by o->bundle_weights, its weights or their
 * digests. The bytes depend on names and contents of the files alone. Every
 * missing weight file is in the error; with random weights it is left out. */
mo_status mo_bundle_write(const mo_exec_options *o, const mo_exec_job *job,
                          const char *path, mo_error *err);

#endif
