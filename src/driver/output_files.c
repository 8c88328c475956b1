/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "driver/output_files.h"

#include <errno.h>
#include <sys/stat.h>

mo_status mo_output_files_make_folder(const char *path, unsigned mode,
                                      mo_error *err)
{
    struct stat info;

    if (mkdir(path, (mode_t) mode) == 0)
        return MO_OK;
    if (errno != EEXIST)
        return mo_fail_errno(err, path, "cannot make the folder");
    if (stat(path, &info) == 0 && !S_ISDIR(info.st_mode))
        return mo_fail_at(err, MO_E_IO, path, 0,
                          "is no folder; name another one");
    return MO_OK;
}

mo_status mo_output_files_open(mo_output_file *outputs, int n, mo_error *err)
{
    mo_status status = MO_OK;

    for (int i = 0; i < n && status == MO_OK; i++)
        if (outputs[i].path)
            status = mo_out_open(outputs[i].path, &outputs[i].out, err);
    if (status != MO_OK)
        mo_output_files_discard(outputs, n);
    return status;
}

mo_status mo_output_files_commit(mo_output_file *outputs, int n, mo_error *err)
{
    mo_status status = MO_OK;

    for (int i = n - 1; i >= 0 && status == MO_OK; i--)
        if (outputs[i].out) {
            status = mo_out_commit(outputs[i].out, err);
            outputs[i].out = NULL;
        }
    mo_output_files_discard(outputs, n);
    return status;
}

void mo_output_files_discard(mo_output_file *outputs, int n)
{
    for (int i = 0; i < n; i++) {
        mo_out_abandon(outputs[i].out);
        outputs[i].out = NULL;
    }
}
