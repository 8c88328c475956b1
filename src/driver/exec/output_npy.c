/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "driver/exec/output_npy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "exec/tensor/npy.h"

/* Size of "/output" and a number. */
enum { NAME_SIZE = 32 };

bool mo_exec_output_npy_is_name(const char *name)
{
    size_t prefix = strlen("output");
    size_t digits;

    if (strncmp(name, "output", prefix) != 0)
        return false;
    digits = strspn(name + prefix, "0123456789");
    return digits > 0 && strcmp(name + prefix + digits, ".npy") == 0;
}

mo_status mo_exec_output_npy_check_input(const char *folder, bool requests,
                                         const char *file, mo_error *err)
{
    char *path = realpath(file, NULL), *name = path ? strrchr(path, '/') : NULL;
    bool same = false;

    if (name && mo_exec_output_npy_is_name(name + 1)) {
        *name = '\0';
        same = mo_output_files_same_folder(path, folder);
        name = strrchr(path, '/');
        if (requests && name) {
            *name = '\0';
            same = mo_output_files_same_folder(*path ? path : "/", folder);
        }
    }
    free(path);
    return same ? mo_fail(err, MO_E_USAGE,
                          "--output would replace %s, which is read; name "
                          "another folder",
                          file)
                : MO_OK;
}

mo_status mo_exec_output_npy_folder(const char *output, int64_t request,
                                    char *folder, size_t size, mo_error *err)
{
    struct stat info;
    int length =
        snprintf(folder, size, "%s/%04lld", output, (long long) request);

    if (length < 0 || (size_t) length >= size)
        return mo_fail_at(err, MO_E_LIMIT, output, 0, "has too long a name");
    if (lstat(folder, &info) == 0 && S_ISLNK(info.st_mode))
        return mo_fail_at(err, MO_E_USAGE, folder, 0,
                          "is a link, and outputs of a request go to a folder "
                          "of its own; remove the link, or name another "
                          "--output");
    return MO_OK;
}

void mo_exec_output_npy_clear(mo_exec_output_npy *files)
{
    if (files->outputs)
        mo_output_files_discard(files->outputs, files->n);
    for (int i = 0; i < files->n && files->paths; i++)
        free(files->paths[i]);
    free(files->paths);
    free(files->outputs);
    *files = (mo_exec_output_npy){ 0 };
}

static mo_status name_files(const char *folder, int n,
                            mo_exec_output_npy *files, mo_error *err)
{
    size_t room = strlen(folder) + NAME_SIZE;

    files->outputs = calloc((size_t) n + 1, sizeof *files->outputs);
    files->paths = calloc((size_t) n + 1, sizeof *files->paths);
    if (!files->outputs || !files->paths)
        return mo_fail_memory(err);
    files->n = n;
    for (int i = 0; i < n; i++) {
        files->paths[i] = malloc(room);
        if (!files->paths[i])
            return mo_fail_memory(err);
        snprintf(files->paths[i], room, "%s/output%d.npy", folder, i);
        files->outputs[i] =
            (mo_output_file){ .option = "--output", .path = files->paths[i] };
    }
    return MO_OK;
}

/* Removes symbolic links to files in the place of the outputs, so that they are
 * replaced rather than what they name, which may be an input. */
static mo_status remove_links(const mo_exec_output_npy *files, mo_error *err)
{
    for (int i = 0; i < files->n; i++) {
        struct stat link, target;

        if (lstat(files->paths[i], &link) != 0 || !S_ISLNK(link.st_mode) ||
            (stat(files->paths[i], &target) == 0 && !S_ISREG(target.st_mode)))
            continue;
        if (unlink(files->paths[i]) != 0)
            return mo_fail_errno(err, files->paths[i],
                                 "cannot remove the link");
    }
    return MO_OK;
}

mo_status mo_exec_output_npy_open(const char *folder,
                                  const mo_tensor_dense *outputs, int n,
                                  mo_exec_output_npy *files, mo_error *err)
{
    mo_status status = mo_output_files_make_folder(folder, 0777, err);

    if (status == MO_OK)
        status = name_files(folder, n, files, err);
    if (status == MO_OK)
        status = remove_links(files, err);
    if (status == MO_OK)
        status = mo_output_files_open(files->outputs, files->n, err);
    for (int i = 0; i < files->n && status == MO_OK; i++)
        mo_npy_write_to(&outputs[i], files->outputs[i].out);
    return status;
}

mo_status mo_exec_output_npy_commit(mo_exec_output_npy *files, mo_error *err)
{
    return files->n > 0 ? mo_output_files_commit(files->outputs, files->n, err)
                        : MO_OK;
}
