/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "driver/exec/output_npy.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/number.h"
#include "driver/output_guard.h"
#include "exec/tensor/npy.h"

/* NAME_SIZE: of "/output" and a number. */
enum { NAME_SIZE = 32, PATH_SIZE = 4096, MIN_DIGITS = 4 };

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

int64_t mo_exec_output_npy_request(const char *name)
{
    size_t length = strlen(name);
    int64_t number;

    if (length < MIN_DIGITS || strspn(name, "0123456789") != length ||
        (length > MIN_DIGITS && name[0] == '0') ||
        mo_number_read_int(name, length, &number) != MO_NUMBER_OK)
        return -1;
    return number;
}

/* Those of the first n requests. */
typedef struct own_outputs {
    const char *output;
    int64_t n;
    int n_outputs;
    bool remove;
    bool any;      /* was found */
    int64_t other; /* the least request with others, or -1 */
} own_outputs;

static mo_status visit_request(own_outputs *own, int64_t request, mo_error *err)
{
    char path[PATH_SIZE + NAME_MAX + 2];
    size_t length;
    const struct dirent *entry;
    mo_status status =
        mo_exec_output_npy_folder(own->output, request, path, PATH_SIZE, err);
    DIR *entries = NULL;

    if (status != MO_OK)
        return request < own->n ? status : MO_OK;
    entries = opendir(path);
    length = strlen(path);
    while (entries && status == MO_OK && (entry = readdir(entries))) {
        if (!mo_output_guard_is_array(entry->d_name))
            continue;
        if (request >= own->n || strtoll(entry->d_name + strlen("output"), NULL,
                                         10) >= own->n_outputs) {
            if (own->other < 0 || request < own->other)
                own->other = request;
            continue;
        }
        own->any = true;
        snprintf(path + length, sizeof path - length, "/%s", entry->d_name);
        if (own->remove && unlink(path) != 0 && errno != ENOENT)
            status = mo_fail_errno(
                err, path, "cannot remove the output of an earlier run");
    }
    if (entries)
        closedir(entries);
    return status;
}

/* What cannot be opened has no outputs, or fails when one is written. */
static mo_status visit_requests(own_outputs *own, mo_error *err)
{
    DIR *entries = opendir(own->output);
    const struct dirent *entry;
    mo_status status = MO_OK;

    while (entries && status == MO_OK && (entry = readdir(entries))) {
        int64_t request = mo_exec_output_npy_request(entry->d_name);

        if (request >= 0)
            status = visit_request(own, request, err);
    }
    if (entries)
        closedir(entries);
    return status;
}

mo_status mo_exec_output_npy_check_earlier(const char *output, int64_t n,
                                           int n_outputs, bool *any,
                                           mo_error *err)
{
    own_outputs own = {
        .output = output, .n = n, .n_outputs = n_outputs, .other = -1
    };
    mo_status status = visit_requests(&own, err);

    *any = own.any;
    if (status != MO_OK || own.other < 0)
        return status;
    return mo_fail_at(err, MO_E_USAGE, output, 0,
                      "has outputs of an earlier run in %04lld, which this one "
                      "may not replace; remove them, or name another folder",
                      (long long) own.other);
}

mo_status mo_exec_output_npy_remove(const char *output, int64_t n,
                                    int n_outputs, mo_error *err)
{
    own_outputs own = { .output = output,
                        .n = n,
                        .n_outputs = n_outputs,
                        .remove = true,
                        .other = -1 };

    return visit_requests(&own, err);
}

/* Creates a file without a name, or, on a file system that has none, a folder,
 * and removes it. Returns whether it can; else errno is the reason. */
static bool can_create(const char *folder, char path[PATH_SIZE])
{
    int fd = open(folder, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);

    if (fd >= 0)
        return close(fd) == 0;
    return (errno == EOPNOTSUPP || errno == EISDIR) && mkdtemp(path) &&
           rmdir(path) == 0;
}

mo_status mo_exec_output_npy_make(const char *output, mo_error *err)
{
    mo_status status = mo_output_files_make_folder(output, 0777, err);
    char path[PATH_SIZE];

    if (status != MO_OK)
        return status;
    if (snprintf(path, sizeof path, "%s/.moirai-XXXXXX", output) >= PATH_SIZE)
        return mo_fail_at(err, MO_E_LIMIT, output, 0, "has too long a name");
    return can_create(output, path)
               ? MO_OK
               : mo_fail_errno(err, output, "cannot write into the folder");
}

mo_status mo_exec_output_npy_lock(const char *output, int *fd, mo_error *err)
{
    *fd = open(output, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (*fd < 0 || flock(*fd, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK)
        return MO_OK;
    close(*fd);
    *fd = -1;
    return mo_fail_at(err, MO_E_IO, output, 0,
                      "is written by another process; wait for its end, or "
                      "name another folder");
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
