/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "solvers/plugins/install_dirs.h"

#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Copies the folder of this program. */
static void program_dir(char *buffer, size_t size)
{
    ssize_t length = readlink("/proc/self/exe", buffer, size - 1);
    char *slash;

    buffer[length > 0 ? length : 0] = 0;
    slash = strrchr(buffer, '/');
    if (slash)
        *slash = 0;
    else
        snprintf(buffer, size, ".");
}

/* Appends the site-packages of the environment at prefix. */
static mo_status append_sites(mo_path_list *dirs, const char *prefix,
                              mo_error *err)
{
    char *pattern = mo_path_format("%s/lib/python3*/site-packages", prefix);
    glob_t sites = { 0 };
    mo_status status = MO_OK;

    if (!pattern)
        return mo_fail_memory(err);
    if (glob(pattern, 0, NULL, &sites) == 0)
        for (size_t i = 0; status == MO_OK && i < sites.gl_pathc; i++)
            status = mo_path_list_append(dirs, strdup(sites.gl_pathv[i]), err);
    globfree(&sites);
    free(pattern);
    return status;
}

static mo_status append_path_sites(mo_path_list *dirs, mo_error *err)
{
    char *python = mo_path_search("python3");
    char *prefix;
    mo_status status;

    if (!python)
        return MO_OK;
    prefix = mo_path_format("%.*s/..", (int) (strrchr(python, '/') - python),
                            python);
    status = prefix ? append_sites(dirs, prefix, err) : mo_fail_memory(err);
    free(prefix);
    free(python);
    return status;
}

mo_status mo_install_dirs_private(mo_path_list *dirs, mo_error *err)
{
    char here[PATH_MAX];
    mo_status status;

    program_dir(here, sizeof here);
    status = mo_path_list_append(dirs, mo_path_format("%s/../lib/moirai", here),
                                 err);
    if (status == MO_OK)
        status = mo_path_list_append(dirs, strdup(MO_PKGLIBDIR), err);
    if (status == MO_OK)
        status = append_path_sites(dirs, err);
    if (status == MO_OK && strlen(MO_PRIVATE_PYTHON) > 0)
        status = append_sites(dirs, MO_PRIVATE_PYTHON, err);
    return status;
}

static char *existing_file(const char *folder, const char *below,
                           const char *name)
{
    char *path = mo_path_format("%s/%s%s", folder, below, name);
    char *absolute = path ? mo_path_absolute(path) : NULL;

    free(path);
    return absolute;
}

char *mo_install_dirs_own_file(const char *name)
{
    static const char *const near[] = { "", "../../", "../libexec/moirai/",
                                        "../share/moirai/" };
    static const char *const far[] = { MO_PKGLIBEXECDIR, MO_PKGDATADIR,
                                       MO_SOURCE_DIR "/solvers/plugins" };
    char here[PATH_MAX], *path = NULL;

    program_dir(here, sizeof here);
    for (size_t i = 0; !path && i < sizeof near / sizeof *near; i++)
        path = existing_file(here, near[i], name);
    for (size_t i = 0; !path && i < sizeof far / sizeof *far; i++)
        path = existing_file(far[i], "", name);
    return path;
}

char *mo_install_dirs_python(const char *site)
{
    char *path = mo_path_format("%s/../../../bin/python3", site);
    char *absolute = path ? mo_path_absolute(path) : NULL;

    free(path);
    return absolute;
}
