/* SPDX-License-Identifier: Apache-2.0 */
/*
 * model_file.h - provenance of a model, read from the comments of its file.
 */
#ifndef MO_DRIVER_MODEL_FILE_H
#define MO_DRIVER_MODEL_FILE_H

#include "base/error.h"
#include "solvers/answer/answer.h"
#include "solvers/process/workdir.h"

/* Reads the comments at the beginning of the file. *origin stays empty for a
 * file without them, including a compressed one. */
mo_status mo_model_file_provenance(const char *path, mo_provenance *origin,
                                   mo_error *err);

/* Copies standard input into a file in folder, named by its format; the caller
 * frees *path. */
mo_status mo_model_file_spool(const mo_workdir *folder, char **path,
                              mo_error *err);

#endif
