/* SPDX-License-Identifier: Apache-2.0 */
/*
 * model_file.h - provenance of a model, and whether it is as it was emitted,
 * from the comments of its file.
 */
#ifndef MO_DRIVER_MODEL_FILE_H
#define MO_DRIVER_MODEL_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "schedule/proof/proof.h"
#include "solvers/answer/answer.h"
#include "solvers/process/workdir.h"

/* Reads the comments at the beginning of the file. *origin stays empty for a
 * file without them. Comments of which one is missing count as edited. */
mo_status mo_model_file_provenance(const char *path, mo_provenance *origin,
                                   mo_error *err);

/* Sets *digest to that of the whole file, and *emitted to whether its last
 * comment is the digest of all above it: no row was added, removed or changed.
 * The digest has no key: it detects edits, not forgeries. */
mo_status mo_model_file_digest(const char *path, uint64_t *digest,
                               bool *emitted, mo_error *err);

/* Reads the certificate among the comments at the beginning of the file; *proof
 * is NULL where there is none, or it is damaged.  The caller frees it. */
mo_status mo_model_file_proof(const char *path, mo_proof **proof,
                              mo_error *err);

/* Copies standard input into a file in folder, named by its format; the caller
 * frees *path. */
mo_status mo_model_file_spool(const mo_workdir *folder, char **path,
                              mo_error *err);

#endif
