/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "driver/output_files.h"
#include "solvers/process/path_util.h"

#include <errno.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static bool same_text(const char *a, const char *b)
{
    return strcmp(a, b) == 0;
}

/* Whether both names are one existing regular file that writing would replace;
 * two outputs to /dev/null are harmless. */
static bool same_entry(const char *a, const char *b)
{
    struct stat x, y;

    return stat(a, &x) == 0 && stat(b, &y) == 0 && S_ISREG(x.st_mode) &&
           x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

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

bool mo_output_files_same_folder(const char *a, const char *b)
{
    struct stat x, y;

    return stat(a, &x) == 0 && stat(b, &y) == 0 && S_ISDIR(x.st_mode) &&
           x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

bool mo_output_files_is_above(const char *folder, int levels, char *path)
{
    for (int i = 0; i < levels; i++)
        path = dirname(path);
    return mo_output_files_same_folder(path, folder);
}

/* Whether both are paths of one file that does not exist yet: the same name in
 * the same folder. */
static bool same_place(const char *a, const char *b)
{
    struct stat there;
    char *x = strdup(a), *y = strdup(b);
    bool same = x && y && stat(a, &there) != 0 &&
                same_text(mo_path_basename(a), mo_path_basename(b)) &&
                mo_output_files_same_folder(dirname(x), dirname(y));

    free(x);
    free(y);
    return same;
}

static bool same_file(const char *a, const char *b)
{
    if (same_text(a, "-") || same_text(b, "-"))
        return same_text(a, b);
    return same_entry(a, b) || same_place(a, b);
}

mo_status mo_output_files_check(const mo_output_file *outputs, int n,
                                mo_error *err)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < i; j++) {
            const mo_output_file *a = &outputs[j], *b = &outputs[i];

            if (a->path && b->path && same_file(a->path, b->path))
                return mo_fail(err, MO_E_USAGE,
                               "%s and %s cannot both be %s; name another file",
                               a->option, b->option,
                               same_text(a->path, "-") ? "standard output"
                                                       : b->path);
        }
    return MO_OK;
}

mo_status mo_output_files_check_input(const mo_output_file *outputs, int n,
                                      const char *input, mo_error *err)
{
    for (int i = 0; i < n && input; i++)
        if (outputs[i].path && same_entry(outputs[i].path, input))
            return mo_fail(err, MO_E_USAGE,
                           "%s would replace %s, which is read; name another "
                           "file",
                           outputs[i].option, input);
    return MO_OK;
}

mo_status mo_output_files_check_inputs(const mo_output_file *outputs, int n,
                                       const char *const *inputs,
                                       size_t n_inputs, mo_error *err)
{
    mo_status status = MO_OK;

    for (size_t i = 0; i < n_inputs && status == MO_OK; i++)
        status = mo_output_files_check_input(outputs, n, inputs[i], err);
    return status;
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
