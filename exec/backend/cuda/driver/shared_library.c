/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "exec/backend/cuda/driver/shared_library.h"

#include <dlfcn.h>
#include <glob.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATH_ROOM = 4096 };

/* Folders of Python's packages, and of toolkits that the loader does not
 * search. The part before the first slash names an environment variable; where
 * it is not set, the folder is skipped. Packages of CUDA 12 have a folder per
 * library, those of CUDA 13 one for all. */
static const char *const search_folders[] = {
    "CUDA_HOME/lib64",
    "CUDA_PATH/lib64",
    "/usr/local/cuda/lib64",
    "/opt/cuda/lib64",
    "/usr/local/cuda-*/lib64",
    "VIRTUAL_ENV/lib/python3*/site-packages/nvidia/*/lib",
    "CONDA_PREFIX/lib",
    "CONDA_PREFIX/lib/python3*/site-packages/nvidia/*/lib",
    "HOME/.local/lib/python3*/site-packages/nvidia/*/lib",
    "/usr/local/lib/python3*/dist-packages/nvidia/*/lib",
    "/usr/local/lib/python3*/site-packages/nvidia/*/lib",
    "/usr/lib/python3*/site-packages/nvidia/*/lib",
};

/* Without RTLD_LOCAL two versions of a library would mix. Lazy: some have very
 * many symbols, of which few are used. */
static void *open_library(const char *path)
{
    return dlopen(path, RTLD_LAZY | RTLD_LOCAL);
}

/* Replaces the variable of a place by its value; returns false where it is not
 * set, not absolute, or the path is too long. */
static bool expand_variable(const char *place, char path[PATH_ROOM])
{
    size_t n = strcspn(place, "/");
    char variable[32] = "";
    const char *value = "";

    if (n > 0) {
        snprintf(variable, sizeof variable, "%.*s", (int) n, place);
        value = getenv(variable);
    }
    return value && (n == 0 || *value == '/') &&
           snprintf(path, PATH_ROOM, "%s%s", value, place + n) < PATH_ROOM;
}

/* Of several matches the last one by name, usually the newest, is tried
 * first. */
static void *load_matching(const char *folder, const char *name)
{
    char pattern[PATH_ROOM];
    void *handle = NULL;
    glob_t found;

    if (snprintf(pattern, sizeof pattern, "%s/%s", folder, name) >= PATH_ROOM ||
        glob(pattern, 0, NULL, &found) != 0)
        return NULL;
    for (size_t i = found.gl_pathc; i-- > 0 && !handle;)
        handle = open_library(found.gl_pathv[i]);
    globfree(&found);
    return handle;
}

static void *load_from_folders(const char *name)
{
    char folder[PATH_ROOM];
    void *handle = NULL;

    for (size_t i = 0;
         i < sizeof search_folders / sizeof *search_folders && !handle; i++)
        if (expand_variable(search_folders[i], folder))
            handle = load_matching(folder, name);
    return handle;
}

static mo_status find_library(const mo_cuda_library *library, void **handle,
                              mo_error *err)
{
    const char *named = getenv(library->variable);

    if (named && !*named)
        return mo_fail(err, MO_E_SUPPORT, "%s is not used: %s is empty",
                       library->title, library->variable);
    if (named) {
        *handle = open_library(named);
        return *handle ? MO_OK
                       : mo_fail(err, MO_E_SUPPORT, "%s says '%s': %s",
                                 library->variable, named, dlerror());
    }
    for (const char *const *n = library->names; *n && !*handle; n++)
        *handle = open_library(*n);
    for (const char *const *n = library->names; *n && !*handle; n++)
        *handle = load_from_folders(*n);
    return *handle
               ? MO_OK
               : mo_fail(err, MO_E_SUPPORT, "there is no %s (%s); %s",
                         library->title, library->names[0], library->remedy);
}

/* Stores a symbol's address. POSIX allows a function pointer to be copied from
 * an object pointer, C does not allow the cast. */
static bool resolve_symbol(void *handle, const mo_cuda_symbol *symbol,
                           const char *const *older, void *to)
{
    void *found = dlsym(handle, symbol->name);

    for (; !found && older && *older; older += 2)
        if (strcmp(older[0], symbol->name) == 0)
            found = dlsym(handle, older[1]);
    memcpy((char *) to + symbol->offset, &found, sizeof found);
    return found != NULL;
}

mo_status mo_cuda_library_load(const mo_cuda_library *library, void *to,
                               mo_error *err)
{
    void *handle = NULL;
    mo_status status = find_library(library, &handle, err);

    if (status != MO_OK)
        return status;
    for (const mo_cuda_symbol *s = library->symbols; s->name; s++)
        if (!resolve_symbol(handle, s, library->older, to)) {
            dlclose(handle);
            return mo_fail(err, MO_E_SUPPORT,
                           "%s has no '%s': it is too old, or another library; "
                           "%s",
                           library->title, s->name, library->remedy);
        }
    return MO_OK;
}
