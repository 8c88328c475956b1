/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "solvers/plugins/find_install.h"

#include <dirent.h>
#include <dlfcn.h>
#include <fnmatch.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "solvers/process/child.h"
#include "solvers/plugins/install_dirs.h"
#include "solvers/process/path_util.h"

static bool is_dir(const char *path)
{
    struct stat state;

    return stat(path, &state) == 0 && S_ISDIR(state.st_mode);
}

void mo_solver_install_clear(mo_solver_install *found)
{
    free(found->program);
    free(found->library);
    free(found->version);
    free(found->library_version);
    free(found->defect);
    *found = (mo_solver_install){ 0 };
}

double mo_solver_query_timeout_s(const mo_solver_install *found)
{
    return found->query_timeout_s > 0 ? found->query_timeout_s : 20;
}

/* Returns the last by name of several versions. */
static char *find_library(const char *folder, const char *const *patterns)
{
    DIR *entries = opendir(folder);
    const struct dirent *entry;
    char best[sizeof entry->d_name] = "";

    if (!entries)
        return NULL;
    while ((entry = readdir(entries)))
        for (const char *const *p = patterns; *p; p++)
            if (fnmatch(*p, entry->d_name, 0) == 0 &&
                strcmp(entry->d_name, best) > 0)
                memcpy(best, entry->d_name, strlen(entry->d_name) + 1);
    closedir(entries);
    return *best ? mo_path_format("%s/%s", folder, best) : NULL;
}

static void search_dir(const mo_solver_install_spec *spec, const char *folder,
                       const char *below, mo_solver_install *found)
{
    char *place = mo_path_format("%s%s", folder, below);

    for (const char *const *p = spec->programs; place && *p; p++)
        if (!found->program) {
            char *path = mo_path_format("%s/%s", place, *p);

            if (path && mo_path_is_program(path)) {
                found->program = path;
            } else {
                free(path);
                found->program = NULL;
            }
        }
    if (place && !found->library)
        found->library = find_library(place, spec->libraries);
    free(place);
}

static void search_tree(const mo_solver_install_spec *spec, const char *folder,
                        mo_solver_install *found)
{
    static const char *const below[] = { "", "/bin", "/lib", "/lib64" };

    for (size_t i = 0; i < sizeof below / sizeof *below; i++)
        search_dir(spec, folder, below[i], found);
}

/* Searches the installation that contains the file: program in bin, library in
 * lib, or both in one folder. */
static void search_beside(const mo_solver_install_spec *spec, const char *file,
                          mo_solver_install *found)
{
    const char *slash = strrchr(file, '/');
    int length = slash ? (int) (slash - file) : 1;
    char *folder = mo_path_format("%.*s", length, slash ? file : ".");
    char *above = mo_path_format("%.*s/..", length, slash ? file : ".");

    if (folder)
        search_dir(spec, folder, "", found);
    if (above) {
        search_dir(spec, above, "/bin", found);
        search_dir(spec, above, "/lib", found);
        search_dir(spec, above, "/lib64", found);
    }
    free(folder);
    free(above);
}

static bool is_library_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *ending = strstr(slash ? slash : path, ".so");

    return ending && (ending[3] == 0 || ending[3] == '.');
}

static mo_status search_given(const mo_solver_install_spec *spec,
                              const char *given, const char *source,
                              mo_solver_install *found, mo_error *err)
{
    /* Solvers run in other folders. */
    char *path = mo_path_absolute(given);

    if (!path)
        return mo_fail_errno(err, given, source);
    if (is_dir(path)) {
        search_tree(spec, path, found);
    } else if (is_library_name(path)) {
        found->library = strdup(path);
        search_beside(spec, path, found);
    } else if (mo_path_is_program(path)) {
        found->program = strdup(path);
        search_beside(spec, path, found);
    }
    free(path);
    if (!found->program && !found->library)
        return mo_fail_at(err, MO_E_USAGE, given, 0,
                          "%s: neither a program nor a library of %s", source,
                          spec->title);
    return MO_OK;
}

/* Runs in a child process, since loading executes code of the library. */
static int print_library_path(void *context)
{
    for (const char *const *soname = context; *soname; soname++) {
        void *handle = dlopen(*soname, RTLD_LAZY | RTLD_LOCAL);
        struct link_map *map;

        if (handle && dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0) {
            printf("%s\n", map->l_name);
            return 0;
        }
    }
    return 1;
}

static void store_path(void *listener, const char *line)
{
    char **path = listener;

    if (*line == '/' && !*path)
        *path = strdup(line);
}

static mo_status search_system(const mo_solver_install_spec *spec,
                               mo_solver_install *found, mo_error *err)
{
    for (const char *const *p = spec->programs; !found->program && *p; p++)
        found->program = mo_path_search(*p);
    if (*spec->sonames) {
        const mo_child_job job = { .body = print_library_path,
                                   .context =
                                       (void *) (uintptr_t) spec->sonames,
                                   .hard_s = 10,
                                   .line = store_path,
                                   .listener = &found->library };
        mo_child_result result;

        return mo_child_run(&job, &result, err);
    }
    return MO_OK;
}

mo_status mo_solver_find_install(const mo_solver_install_spec *spec,
                                 const char *path, mo_solver_install *found,
                                 mo_error *err)
{
    const char *variable = getenv(spec->variable);
    mo_status status;

    *found = (mo_solver_install){ 0 };
    if (path)
        return search_given(spec, path, "--solver-path", found, err);
    if (variable && *variable)
        return search_given(spec, variable, spec->variable, found, err);
    status = search_system(spec, found, err);
    if (status == MO_OK) {
        /* In the build tree the folder that configure found precedes all
         * others. */
        mo_path_list places = { 0 };
        char *known =
            spec->build_key ? mo_install_dirs_build(spec->build_key) : NULL;

        status = mo_install_dirs_private(&places, err);
        if (known)
            search_tree(spec, known, found);
        for (size_t i = 0; status == MO_OK && i < places.n; i++) {
            for (const char *const *f = spec->folders; *f; f++) {
                char *folder = mo_path_format("%s/%s", places.paths[i], *f);
                char *absolute = folder ? realpath(folder, NULL) : NULL;

                if (absolute)
                    search_tree(spec, absolute, found);
                free(absolute);
                free(folder);
            }
        }
        free(known);
        mo_path_list_clear(&places);
    }
    if (status != MO_OK)
        mo_solver_install_clear(found);
    return status;
}
