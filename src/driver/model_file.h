/* SPDX-License-Identifier: Apache-2.0 */
/*
 * model_file.h - what a model file tells about itself in its comments.
 */
#ifndef MO_DRIVER_MODEL_FILE_H
#define MO_DRIVER_MODEL_FILE_H

#include "base/error.h"
#include "solvers/answer/answer.h"
#include "solvers/process/workdir.h"

/* Reads the comments it opens with; a file that has none of ours, a compressed
 * one too, leaves origin empty. */
mo_status mo_model_file_provenance(const char *path, mo_provenance *origin,
                                   mo_error *err);

/* Standard input as a file in folder, called by what is in it; *path is the
 * caller's. */
mo_status mo_model_file_spool(const mo_workdir *folder, char **path,
                              mo_error *err);

#endif
