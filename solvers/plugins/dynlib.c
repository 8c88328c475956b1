/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "solvers/plugins/dynlib.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Of libraries that one needs, and of those that these need. */
enum { NEEDED_MOST = 16, NEEDED_DEPTH = 4 };

/* POSIX lets the two kinds of pointers be copied, C does not let them be
 * cast. */
static bool find_symbol(mo_dynlib *api, const mo_dynlib_symbol *symbol)
{
    void *found = dlsym(api->handle, symbol->name);

    memcpy((char *) api + symbol->offset, &found, sizeof found);
    return found || symbol->optional;
}

/* Returns the first that is missing, or NULL. */
static const char *find_symbols(const mo_dynlib_spec *kind, mo_dynlib *api)
{
    const char *missing = NULL;

    for (const mo_dynlib_symbol *s = kind->symbols; s->name; s++)
        if (!find_symbol(api, s) && !missing)
            missing = s->name;
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

static mo_status check(const mo_dynlib_spec *kind, const char *path,
                       mo_dynlib *api, mo_error *err)
{
    const char *missing = find_symbols(kind, api);
    const int *oldest = kind->oldest;

    if (!kind->version(api, api->version))
        return mo_fail_at(err, MO_E_SUPPORT, path, 0,
                          "no %s: it has no symbol '%s'", kind->title, missing);
    if (!mo_dynlib_at_least(api, oldest[0], oldest[1]))
        return mo_fail_at(err, MO_E_SUPPORT, path, 0,
                          "%s %d.%d.%d is too old: %d.%d or later is needed",
                          kind->title, api->version[0], api->version[1],
                          api->version[2], oldest[0], oldest[1]);
    if (missing)
        return mo_fail_at(err, MO_E_SUPPORT, path, 0,
                          "%s %d.%d.%d, but it has no symbol '%s'", kind->title,
                          api->version[0], api->version[1], api->version[2],
                          missing);
    return kind->check ? kind->check(api, err) : MO_OK;
}

/* Without RTLD_LOCAL two solvers' C++ symbols would mix; with RTLD_NOW what a
 * damaged one lacks shows here and not in the middle of solving. */
static void *load(const char *path)
{
    return dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

/*
 * The loader's complaint begins with what it did not find: the library itself,
 * or one that it needs.  Those of Python packages lie beside it, where the
 * loader does not look unless it is told.
 */
static char *beside(const char *path, const char *complaint)
{
    const char *slash = strrchr(path, '/');
    size_t folder = slash ? (size_t) (slash - path) + 1 : 0;
    size_t name = strcspn(complaint, ":");
    char *other = NULL;

    if (folder > 0 && name > 0 && !memchr(complaint, '/', name))
        other = malloc(folder + name + 1);
    if (other) {
        memcpy(other, path, folder);
        memcpy(other + folder, complaint, name);
        other[folder + name] = 0;
    }
    return other;
}

/* What is loaded once is found by its name, so it is enough to load what is
 * needed first.  Keeps the last complaint. */
static void *load_after(const char *path, int depth, char *complaint,
                        size_t size)
{
    void *handle = load(path);
    char *other = NULL;

    for (int i = 0; !handle && i < NEEDED_MOST; i++) {
        snprintf(complaint, size, "%s", dlerror());
        other = depth < NEEDED_DEPTH ? beside(path, complaint) : NULL;
        if (!other || access(other, R_OK) != 0 ||
            !load_after(other, depth + 1, complaint, size))
            break;
        free(other);
        other = NULL;
        handle = load(path);
    }
    free(other);
    return handle;
}

static void *load_any(const char *const *sonames, const char **found,
                      char *complaint, size_t size)
{
    void *handle = NULL;

    for (; !handle && *sonames; sonames++)
        handle = load_after(*found = *sonames, 0, complaint, size);
    return handle;
}

mo_status mo_dynlib_open(const mo_dynlib_spec *kind, const char *path,
                         mo_dynlib *api, mo_error *err)
{
    char complaint[MO_ERROR_TEXT_SIZE] = "";
    mo_status status;

    api->handle =
        path ? load_after(path, 0, complaint, sizeof complaint)
             : load_any(kind->sonames, &path, complaint, sizeof complaint);
    if (!api->handle)
        return mo_fail(err, MO_E_IO, "%s cannot be loaded: %s", kind->title,
                       complaint);
    status = check(kind, path, api, err);
    if (status != MO_OK) {
        dlclose(api->handle);
        api->handle = NULL;
    }
    return status;
}
