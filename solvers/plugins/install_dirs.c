/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "solvers/plugins/install_dirs.h"

#include <dlfcn.h>
#include <glob.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Copies the folder of this program; within the shared library, which is used
 * by other programs, that of the programs installed with it. */
static void program_dir(char *buffer, size_t size)
{
    static const char library[] = "/libmoirai.so";
    const char *name = NULL;
    Dl_info object;
    ssize_t length;
    char *slash;

    if (dladdr(library, &object) != 0)
        name = strstr(object.dli_fname, library);
    if (name) {
        snprintf(buffer, size, "%.*s/../bin", (int) (name - object.dli_fname),
                 object.dli_fname);
        return;
    }
    length = readlink("/proc/self/exe", buffer, size - 1);
    buffer[length > 0 ? length : 0] = 0;
    slash = strrchr(buffer, '/');
    if (slash)
        *slash = 0;
    else
        snprintf(buffer, size, ".");
}

/* Opens the file build-paths of this program's build tree; NULL: there is
 * none. Only the program's own folder is looked at: folders above an installed
 * program may be writable by others. */
static FILE *open_build_paths(void)
{
    const char *given = getenv("MOIRAI_BUILD_PATHS");
    char here[PATH_MAX];
    char *path;
    FILE *file;

    if (given && *given)
        return fopen(given, "re");
    program_dir(here, sizeof here);
    path = mo_path_format("%s/build-paths", here);
    file = path ? fopen(path, "re") : NULL;
    free(path);
    return file;
}

char *mo_install_dirs_build(const char *key)
{
    FILE *file = open_build_paths();
    char line[PATH_MAX + 32], *value = NULL;
    size_t n = strlen(key);

    while (file && !value && fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = '\0';
        if (strncmp(line, key, n) == 0 && line[n] == ' ' && line[n + 1])
            value = strdup(line + n + 1);
    }
    if (file)
        (void) fclose(file);
    return value;
}

/* Appends the site-packages of the environment at prefix, and the
 * dist-packages of Debian. */
static mo_status append_sites(mo_path_list *dirs, const char *prefix,
                              mo_error *err)
{
    char *pattern =
        mo_path_format("%s/lib/python3*/[sd]i[ts][et]-packages", prefix);
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
    static const char *const environments[] = { "VIRTUAL_ENV", "CONDA_PREFIX" };
    char *python = mo_install_dirs_build("python"), here[PATH_MAX];
    mo_status status = MO_OK;

    program_dir(here, sizeof here);
    if (!python)
        status = mo_path_list_append(
            dirs, mo_path_format("%s/../lib/moirai", here), err);
    if (status == MO_OK)
        status = mo_path_list_append(dirs, strdup(MO_PKGLIBDIR), err);
    for (size_t i = 0; i < sizeof environments / sizeof *environments; i++) {
        const char *prefix = getenv(environments[i]);

        if (status == MO_OK && prefix && *prefix)
            status = append_sites(dirs, prefix, err);
    }
    if (status == MO_OK)
        status = append_path_sites(dirs, err);
    if (status == MO_OK && python)
        status = append_sites(dirs, python, err);
    free(python);
    return status;
}

/* Returns the absolute path of folder/below/name; NULL: there is none. */
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
    static const char *const in_build[] = { "programs", "scripts" };
    static const char *const near[] = { "../libexec/moirai/",
                                        "../share/moirai/" };
    static const char *const far[] = { MO_PKGLIBEXECDIR, MO_PKGDATADIR };
    bool is_build = false;
    char here[PATH_MAX], *path = NULL;

    for (size_t i = 0; !path && i < sizeof in_build / sizeof *in_build; i++) {
        char *folder = mo_install_dirs_build(in_build[i]);

        is_build = is_build || folder;
        path = folder ? existing_file(folder, "", name) : NULL;
        free(folder);
    }
    program_dir(here, sizeof here);
    for (size_t i = 0; !is_build && !path && i < sizeof near / sizeof *near;
         i++)
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
