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

static bool is_folder(const char *path)
{
    struct stat state;

    return stat(path, &state) == 0 && S_ISDIR(state.st_mode);
}

/* Takes path over when it is a program, frees it when not. */
static char *if_program(char *path)
{
    if (path && mo_path_is_program(path))
        return path;
    free(path);
    return NULL;
}

void mo_solver_install_clear(mo_solver_install *found)
{
    free(found->program);
    free(found->library);
    free(found->version);
    free(found->library_version);
    free(found->trouble);
    *found = (mo_solver_install){ 0 };
}

double mo_solver_query_timeout_s(const mo_solver_install *found)
{
    return found->patience_s > 0 ? found->patience_s : 20;
}

/* -------------------------------------------------------------- in a folder */

/* Of several versions the last by name. */
static char *library_in(const char *folder, const char *const *patterns)
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

static void look_in(const mo_solver_install_spec *kind, const char *folder,
                    const char *below, mo_solver_install *found)
{
    char *place = mo_path_format("%s%s", folder, below);

    for (const char *const *p = kind->programs; place && *p; p++)
        if (!found->program)
            found->program = if_program(mo_path_format("%s/%s", place, *p));
    if (place && !found->library)
        found->library = library_in(place, kind->libraries);
    free(place);
}

static void look_around(const mo_solver_install_spec *kind, const char *folder,
                        mo_solver_install *found)
{
    static const char *const below[] = { "", "/bin", "/lib", "/lib64" };

    for (size_t i = 0; i < sizeof below / sizeof *below; i++)
        look_in(kind, folder, below[i], found);
}

/* What lies in the same installation as the file: it in bin, the other in
 * lib, or both in one folder. */
static void look_beside(const mo_solver_install_spec *kind, const char *file,
                        mo_solver_install *found)
{
    const char *slash = strrchr(file, '/');
    int length = slash ? (int) (slash - file) : 1;
    char *folder = mo_path_format("%.*s", length, slash ? file : ".");
    char *above = mo_path_format("%.*s/..", length, slash ? file : ".");

    if (folder)
        look_in(kind, folder, "", found);
    if (above) {
        look_in(kind, above, "/bin", found);
        look_in(kind, above, "/lib", found);
        look_in(kind, above, "/lib64", found);
    }
    free(folder);
    free(above);
}

/* ------------------------------------------------------- where the user says
 */

static bool is_library_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *ending = strstr(slash ? slash : path, ".so");

    return ending && (ending[3] == 0 || ending[3] == '.');
}

static mo_status look_where_said(const mo_solver_install_spec *kind,
                                 const char *said, const char *who,
                                 mo_solver_install *found, mo_error *err)
{
    /* Solvers run in other folders. */
    char *path = mo_path_absolute(said);

    if (!path)
        return mo_fail_errno(err, said, who);
    if (is_folder(path)) {
        look_around(kind, path, found);
    } else if (is_library_name(path)) {
        found->library = strdup(path);
        look_beside(kind, path, found);
    } else if (mo_path_is_program(path)) {
        found->program = strdup(path);
        look_beside(kind, path, found);
    }
    free(path);
    if (!found->program && !found->library)
        return mo_fail_at(err, MO_E_USAGE, said, 0,
                          "%s: neither a program nor a library of %s", who,
                          kind->title);
    return MO_OK;
}

/* ------------------------------------------------- where the machine has it */

/* In a child, since a library does what it wants when it is loaded. */
static int print_loaded(void *context)
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

static void keep_path(void *listener, const char *line)
{
    char **path = listener;

    if (*line == '/' && !*path)
        *path = strdup(line);
}

static mo_status ask_loader(const char *const *sonames, char **path,
                            mo_error *err)
{
    const mo_child_job job = { .body = print_loaded,
                               .context = (void *) (uintptr_t) sonames,
                               .hard_s = 10,
                               .line = keep_path,
                               .listener = path };
    mo_child_result result;

    return mo_child_run(&job, &result, err);
}

static mo_status look_on_machine(const mo_solver_install_spec *kind,
                                 mo_solver_install *found, mo_error *err)
{
    for (const char *const *p = kind->programs; !found->program && *p; p++)
        found->program = mo_path_search(*p);
    if (*kind->sonames)
        return ask_loader(kind->sonames, &found->library, err);
    return MO_OK;
}

static void look_below(const mo_solver_install_spec *kind, const char *place,
                       mo_solver_install *found)
{
    for (const char *const *f = kind->folders; *f; f++) {
        char *folder = mo_path_format("%s/%s", place, *f);
        char *whole = folder ? realpath(folder, NULL) : NULL;

        if (whole)
            look_around(kind, whole, found);
        free(whole);
        free(folder);
    }
}

/* Where we are installed, we use what was installed with us, though the place
 * it was copied from may still be there. */
static mo_status look_in_private(const mo_solver_install_spec *kind,
                                 mo_solver_install *found, mo_error *err)
{
    mo_path_list places = { 0 };
    mo_status status = mo_install_dirs_private(&places, err);

    for (size_t i = 0; status == MO_OK && i <= places.n; i++) {
        if (i == MO_INSTALL_DIRS_OWN && kind->known && *kind->known)
            look_around(kind, kind->known, found);
        if (i < places.n)
            look_below(kind, places.paths[i], found);
    }
    mo_path_list_clear(&places);
    return status;
}

mo_status mo_solver_find_install(const mo_solver_install_spec *kind,
                                 const char *path, mo_solver_install *found,
                                 mo_error *err)
{
    const char *variable = getenv(kind->variable);
    mo_status status;

    *found = (mo_solver_install){ 0 };
    if (path)
        return look_where_said(kind, path, "--solver-path", found, err);
    if (variable && *variable)
        return look_where_said(kind, variable, kind->variable, found, err);
    status = look_on_machine(kind, found, err);
    if (status == MO_OK)
        status = look_in_private(kind, found, err);
    if (status != MO_OK)
        mo_solver_install_clear(found);
    return status;
}
