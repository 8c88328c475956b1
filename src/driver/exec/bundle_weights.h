/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bundle_weights.h - where the weights of a bundle are: in its archive, or in
 * files of this host with the recorded digests.
 */
#ifndef MO_DRIVER_EXEC_BUNDLE_WEIGHTS_H
#define MO_DRIVER_EXEC_BUNDLE_WEIGHTS_H

#include "base/error.h"
#include "base/option.h"
#include "driver/bundle.h"
#include "exec/weights/constants.h"

/* Starts as zeros. */
typedef struct mo_bundle_sources {
    mo_weights_source *list; /* borrows names and archive from the bundle */
    size_t n;
    char **found; /* by weights of the bundle: a file of this host, or NULL */
    size_t n_found;
} mo_bundle_sources;

/* Finds all weights of bundle. Those that are not packed are searched for
 * beside the archive, in the folders given, in the working folder and in
 * MOIRAI_PATH, by size and digest. The error names all that are missing; with
 * random they are left out. The caller clears *sources, whatever the result. */
mo_status mo_bundle_sources_find(const mo_bundle *bundle,
                                 const mo_option_list *given, bool random,
                                 mo_bundle_sources *sources, mo_error *err);
void mo_bundle_sources_clear(mo_bundle_sources *sources);

/* Computes size and digest of an open weight file, as bundles record them.
 * Closes the descriptor, whatever the result. */
mo_status mo_bundle_weights_measure(int fd, const char *path, int64_t *size,
                                    uint64_t *digest, mo_error *err);

#endif
