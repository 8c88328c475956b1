/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "solvers/plugins/dynlib.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Dependencies of one library, and depth of the dependency tree. */
enum { MAX_DEPENDENCIES = 16, MAX_DEPTH = 4 };

/* Returns the first missing symbol, or NULL. */
static const char *find_symbols(const mo_dynlib_spec *spec, mo_dynlib *api)
{
    const char *missing = NULL;

    /* POSIX allows copying between object and function pointers, C does not
     * allow the cast. */
    for (const mo_dynlib_symbol *s = spec->symbols; s->name; s++) {
        void *found = dlsym(api->handle, s->name);

        memcpy((char *) api + s->offset, &found, sizeof found);
        if (!found && !s->optional && !missing)
            missing = s->name;
    }
    return missing;
}

bool mo_dynlib_query_version(int (*major)(void), int (*minor)(void),
                             int (*patch)(void), int version[3])
{
    if (!major || !minor || !patch)
        return false;
    version[0] = major();
    version[1] = minor();
    version[2] = patch();
    return true;
}

bool mo_dynlib_at_least(const mo_dynlib *api, int major, int minor)
{
    return api->version[0] > major ||
           (api->version[0] == major && api->version[1] >= minor);
}

static mo_status check_version(const mo_dynlib_spec *spec, const char *path,
                               mo_dynlib *api, mo_error *err)
{
    const char *missing = find_symbols(spec, api);
    const int *min_version = spec->min_version;

    if (!spec->version(api, api->version))
        return mo_fail_at(err, MO_E_SUPPORT, path, 0,
                          "no %s: it has no symbol '%s'", spec->title, missing);
    if (!mo_dynlib_at_least(api, min_version[0], min_version[1]))
        return mo_fail_at(err, MO_E_SUPPORT, path, 0,
                          "%s %d.%d.%d is too old: %d.%d or later is needed",
                          spec->title, api->version[0], api->version[1],
                          api->version[2], min_version[0], min_version[1]);
    if (missing)
        return mo_fail_at(err, MO_E_SUPPORT, path, 0,
                          "%s %d.%d.%d, but it has no symbol '%s'", spec->title,
                          api->version[0], api->version[1], api->version[2],
                          missing);
    return spec->check ? spec->check(api, err) : MO_OK;
}

/* RTLD_LOCAL keeps the C++ symbols of two solvers apart; RTLD_NOW finds a
 * damaged library here and not during solving. */
static void *open_library(const char *path)
{
    return dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

/*
 * The message of dlopen() starts with the name it did not find: the library
 * itself, or a dependency. Dependencies of Python packages are in the same
 * folder, where the loader does not search by default.
 */
static char *path_beside(const char *path, const char *message)
{
    const char *slash = strrchr(path, '/');
    size_t folder = slash ? (size_t) (slash - path) + 1 : 0;
    size_t name = strcspn(message, ":");
    char *other = NULL;

    if (folder > 0 && name > 0 && !memchr(message, '/', name))
        other = malloc(folder + name + 1);
    if (other) {
        memcpy(other, path, folder);
        memcpy(other + folder, message, name);
        other[folder + name] = 0;
    }
    return other;
}

/* Loaded libraries are found by name, so loading the dependencies first is
 * enough. Keeps the last message. */
static void *open_with_dependencies(const char *path, int depth, char *message,
                                    size_t size)
{
    void *handle = open_library(path);
    char *other = NULL;

    for (int i = 0; !handle && i < MAX_DEPENDENCIES; i++) {
        snprintf(message, size, "%s", dlerror());
        other = depth < MAX_DEPTH ? path_beside(path, message) : NULL;
        if (!other || access(other, R_OK) != 0 ||
            !open_with_dependencies(other, depth + 1, message, size))
            break;
        free(other);
        other = NULL;
        handle = open_library(path);
    }
    free(other);
    return handle;
}

static void *open_first(const char *const *sonames, const char **found,
                        char *message, size_t size)
{
    void *handle = NULL;

    for (; !handle && *sonames; sonames++)
        handle = open_with_dependencies(*found = *sonames, 0, message, size);
    return handle;
}

mo_status mo_dynlib_open(const mo_dynlib_spec *spec, const char *path,
                         mo_dynlib *api, mo_error *err)
{
    char message[MO_ERROR_TEXT_SIZE] = "";
    mo_status status;

    api->handle =
        path ? open_with_dependencies(path, 0, message, sizeof message)
             : open_first(spec->sonames, &path, message, sizeof message);
    if (!api->handle)
        return mo_fail(err, MO_E_IO, "%s cannot be loaded: %s", spec->title,
                       message);
    status = check_version(spec, path, api, err);
    if (status != MO_OK) {
        dlclose(api->handle);
        api->handle = NULL;
    }
    return status;
}
