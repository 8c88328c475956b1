/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file_hints.h - where the inputs of a model or solution were: paths in its
 * comments, relative to the file and absolute.
 *
 * A path is a hint: the digest decides whether a file is the input. Inputs in
 * the folder of the model or solution have no hint, since they are found there.
 * Paths are written in ASCII: other bytes, control characters and '\' as
 * "\xc3".
 */
#ifndef MO_DRIVER_FILE_HINTS_H
#define MO_DRIVER_FILE_HINTS_H

#include "base/error.h"
#include "models/identity.h"
#include "solvers/answer/answer.h"
#include "solvers/process/path_util.h"

/* Appends the hints for the files of made_of in a file that is written to
 * output; "-": standard output, which counts as a file in the working folder.
 * Paths of more than MO_SOLUTION_FILE_SIZE - 1 characters are left out. The
 * caller clears *hints, whatever the result. */
mo_status mo_file_hints_list(const mo_identity_options *made_of,
                             const char *output, mo_path_list *hints,
                             mo_error *err);

/* Appends the paths that the hints of a file stand for; beside is that file.
 * The caller clears *paths, whatever the result. */
mo_status mo_file_hints_resolve(const mo_solution_files *hints,
                                const char *beside, mo_path_list *paths,
                                mo_error *err);

#endif
