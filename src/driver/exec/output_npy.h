/* SPDX-License-Identifier: Apache-2.0 */
/*
 * output_npy.h - outputs of the network as files of a folder: output0.npy,
 * output1.npy, ...
 */
#ifndef MO_DRIVER_EXEC_OUTPUT_NPY_H
#define MO_DRIVER_EXEC_OUTPUT_NPY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "driver/output_files.h"
#include "exec/tensor/dense_tensor.h"

typedef struct mo_exec_output_npy {
    mo_output_file *outputs;
    char **paths;
    int n;
} mo_exec_output_npy;

/* Returns the number that the name of a request's folder is, or -1. */
int64_t mo_exec_output_npy_request(const char *name);

/* Outputs of an earlier run in the folders of requests in output, which need
 * not exist. The first fails with MO_E_USAGE if there are others than the
 * n_outputs of the first n requests, or one of their folders is a symbolic
 * link, and returns in *any whether there are some of these; the second removes
 * them. */
mo_status mo_exec_output_npy_check_earlier(const char *output, int64_t n,
                                           int n_outputs, bool *any,
                                           mo_error *err);
mo_status mo_exec_output_npy_remove(const char *output, int64_t n,
                                    int n_outputs, mo_error *err);

/* Writes the folder of a request, in output: "out/0003". A symbolic link there
 * may be the folder of an input: MO_E_USAGE. MO_E_LIMIT: the name is too
 * long. */
mo_status mo_exec_output_npy_folder(const char *output, int64_t request,
                                    char *folder, size_t size, mo_error *err);

/* Creates the folder if it is missing, and fails if nothing can be created in
 * it. */
mo_status mo_exec_output_npy_make(const char *output, mo_error *err);

/* Locks the folder against other processes that write requests into it, until
 * *fd is closed; MO_E_IO: one has. *fd is -1 where there is no folder; on file
 * systems without locks nothing is locked, and nothing fails. */
mo_status mo_exec_output_npy_lock(const char *output, int *fd, mo_error *err);

/* Creates the folder if it is missing and writes all files under temporary
 * names. A symbolic link to a file in the place of one is removed; what it
 * names stays. *files begins as zeros; the caller clears it. */
mo_status mo_exec_output_npy_open(const char *folder,
                                  const mo_tensor_dense *outputs, int n,
                                  mo_exec_output_npy *files, mo_error *err);
mo_status mo_exec_output_npy_commit(mo_exec_output_npy *files, mo_error *err);

/* Removes files that were not committed. */
void mo_exec_output_npy_clear(mo_exec_output_npy *files);

#endif
