/* SPDX-License-Identifier: Apache-2.0 */
/*
 * output_guard.h - no output of a command replaces a file that the command
 * reads, or another output.
 *
 * Files are compared by device and inode, so that links are seen through. The
 * checks fail with MO_E_USAGE and name the option and the file. Files that
 * options name are checked before anything is read; what is found on the way
 * (the cluster beside the graph, weights, the inputs of a solution) before an
 * output is committed.
 */
#ifndef MO_DRIVER_OUTPUT_GUARD_H
#define MO_DRIVER_OUTPUT_GUARD_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "base/option.h"
#include "driver/output_files.h"
#include "driver/prepare.h"
#include "driver/review.h"

/* What a command writes. */
typedef struct mo_output_guard {
    const mo_output_file *outputs;
    int n;
    /* Folder of --output of moirai-exec, for output0.npy and so on, or NULL;
     * by_request: in a folder for each request there. */
    const char *arrays;
    bool by_request;
} mo_output_guard;

/* Checks files that are read; a path may be NULL, "-", or no file. */
mo_status mo_output_guard_check_input(const mo_output_guard *guard,
                                      const char *path, mo_error *err);
mo_status mo_output_guard_check_inputs(const mo_output_guard *guard,
                                       const char *const *paths, size_t n,
                                       mo_error *err);

/* Checks that no two outputs are one file, and the inputs that options name;
 * graph may be NULL. */
mo_status mo_output_guard_check_given(const mo_output_guard *guard,
                                      const mo_prepare_options *p,
                                      const char *graph, mo_error *err);

/* Checks the plug-ins of the list and of MOIRAI_PLUGINS. */
mo_status mo_output_guard_check_plugins(const mo_output_guard *guard,
                                        const mo_option_list *files,
                                        mo_error *err);

/* Checks what was read for the instance of the file graph: its cluster, also
 * one chosen by default and NULL where there is none, and all files of its
 * graph, also of phases and of weights. */
mo_status mo_output_guard_check_found(const mo_output_guard *guard,
                                      const mo_graph *fine,
                                      const mo_cluster *cluster,
                                      const char *graph, mo_error *err);

/* Checks the inputs of a review, given or found, and weights of its graph. */
mo_status mo_output_guard_check_review(const mo_output_guard *guard,
                                       const mo_review *review, mo_error *err);

/* Returns whether it is output0.npy, output1.npy, and so on. */
bool mo_output_guard_is_array(const char *name);

/* Returns whether both names are one existing folder. */
bool mo_output_guard_same_folder(const char *a, const char *b);

/* Returns whether the folder is so many levels above a path without links,
 * which is cut there; 0: the path itself. */
bool mo_output_guard_is_above(const char *folder, int levels, char *path);

#endif
