/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bundle.h - reader of bundles: a solution with everything that is needed to
 * run it on another host, in one tar archive.
 *
 * The member moirai-bundle.txt has one line for each input, see moirai-exec(1).
 * Solution, graph, cluster, profile, rules and cost
 * model are unpacked into a private folder under TMPDIR, which is removed when
 * the bundle is closed and on a terminating signal. Weights stay in the
 * archive and are mapped there; a compressed archive is decompressed into a
 * file without a name first.
 */
#ifndef MO_DRIVER_BUNDLE_H
#define MO_DRIVER_BUNDLE_H

#include <stdint.h>

#include "base/error.h"
#include "base/tar.h"
#include "driver/prepare.h"
#include "solvers/process/path_util.h"
#include "solvers/process/workdir.h"

#define MO_BUNDLE_MANIFEST   "moirai-bundle.txt"
#define MO_BUNDLE_FIRST_LINE "moirai-bundle 2"

typedef struct mo_bundle_weights {
    char *name; /* as in the graph */
    int64_t size;
    uint64_t digest;             /* mo_digest_of() all bytes */
    const mo_tar_member *member; /* NULL: not packed */
} mo_bundle_weights;

typedef struct mo_bundle {
    char *file; /* the archive */
    char *path; /* by which its bytes can be opened: the archive, or its
                   decompressed copy */
    int fd;
    mo_tar_index index;

    /* Unpacked files, or names of a built-in cluster or rule set; NULL:
     * none. */
    char *solution, *graph, *cluster, *profile, *fusion, *cost;
    mo_path_list shapes, values; /* as of --shape and --value */
    mo_bundle_weights *weights;
    size_t n_weights, weights_room;

    mo_workdir *folder;
    mo_path_list unpacked; /* registered for removal on a signal */
} mo_bundle;

/* Opens the bundle at path. *bundle is NULL if path is no tar archive, by its
 * content, or cannot be opened; else the caller closes it. */
mo_status mo_bundle_open(const char *path, mo_bundle **bundle, mo_error *err);
void mo_bundle_close(mo_bundle *bundle); /* NULL is allowed */

/* Sets what the options of a command leave open, *graph among them, and *path
 * to the file to work on: the solution, or the graph of a bundle without one.
 * All is borrowed from bundle. */
void mo_bundle_apply(const mo_bundle *bundle, mo_prepare_options *options,
                     const char **graph, const char **path);

/* Returns the name under which a report shows path: that of the member or
 * archive if it is in the private folder of bundle, which may be NULL; else
 * path itself. Borrowed from either. */
const char *mo_bundle_shown(const mo_bundle *bundle, const char *path);

/* Replaces the private folder of bundle, which may be NULL, in an error by the
 * name of the archive: "job.tar:net.graphml". */
void mo_bundle_show_error(const mo_bundle *bundle, mo_error *err);

#endif
