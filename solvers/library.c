#include <config.h>

#include "solvers/library.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

/* POSIX lets the two kinds of pointers be copied, C does not let them be
 * cast. */
static bool find_symbol(mo_library *api, const mo_symbol *symbol)
{
    void *found = dlsym(api->handle, symbol->name);

    memcpy((char *) api + symbol->offset, &found, sizeof found);
    return found || symbol->optional;
}

/* Returns the first that is missing, or NULL. */
static const char *find_symbols(const mo_library_kind *kind, mo_library *api)
{
    const char *missing = NULL;

    for (const mo_symbol *s = kind->symbols; s->name; s++)
        if (!find_symbol(api, s) && !missing)
            missing = s->name;
    return missing;
}

bool mo_library_since(const mo_library *api, int major, int minor)
{
    return api->version[0] > major ||
           (api->version[0] == major && api->version[1] >= minor);
}

static mo_status check(const mo_library_kind *kind, const char *path,
                       mo_library *api, mo_error *err)
{
    const char *missing = find_symbols(kind, api);
    const int *oldest = kind->oldest;

    if (!kind->version(api, api->version))
        return mo_fail_at(err, MO_E_SUPPORT, path, 0,
                          "no %s: it has no symbol '%s'", kind->title, missing);
    if (!mo_library_since(api, oldest[0], oldest[1]))
        return mo_fail_at(err, MO_E_SUPPORT, path, 0,
                          "%s %d.%d.%d is too old: %d.%d or later is needed",
                          kind->title, api->version[0], api->version[1],
                          api->version[2], oldest[0], oldest[1]);
    if (missing)
        return mo_fail_at(err, MO_E_SUPPORT, path, 0,
                          "%s %d.%d.%d, but it has no symbol '%s'", kind->title,
                          api->version[0], api->version[1], api->version[2],
                          missing);
    return MO_OK;
}

/* The loader's own text begins with the path. */
static mo_status refuse(const mo_library_kind *kind, mo_error *err)
{
    return mo_fail(err, MO_E_IO, "%s cannot be loaded: %s", kind->title,
                   dlerror());
}

/* Without RTLD_LOCAL two solvers' C++ symbols would mix; with RTLD_NOW what a
 * damaged one lacks shows here and not in the middle of solving. */
static void *load(const char *path)
{
    return dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

static void *load_any(const char *const *sonames, const char **found)
{
    void *handle = NULL;

    for (; !handle && *sonames; sonames++)
        handle = load(*found = *sonames);
    return handle;
}

mo_status mo_library_open(const mo_library_kind *kind, const char *path,
                          mo_library *api, mo_error *err)
{
    mo_status status;

    api->handle = path ? load(path) : load_any(kind->sonames, &path);
    if (!api->handle)
        return refuse(kind, err);
    status = check(kind, path, api, err);
    if (status != MO_OK) {
        dlclose(api->handle);
        api->handle = NULL;
    }
    return status;
}
