/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dynlib.h - a solver's shared library, loaded at run time.
 *
 * No solver is needed at build time: the functions used are declared in
 * <solver>_api.h, a struct of function pointers that starts with a mo_dynlib
 * and is filled from a table of symbols. A library is never unloaded: some
 * have threads, or exit handlers.
 */
#ifndef MO_SOLVERS_PLUGINS_DYNLIB_H
#define MO_SOLVERS_PLUGINS_DYNLIB_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

typedef struct mo_dynlib {
    void *handle;
    int version[3];
} mo_dynlib;

typedef struct mo_dynlib_symbol {
    const char *name;
    size_t offset; /* of its pointer in the struct */
    bool optional; /* the pointer is NULL without it */
} mo_dynlib_symbol;

typedef struct mo_dynlib_spec {
    const char *title; /* "HiGHS" */
    size_t size;       /* of the struct */
    const char *const
        *sonames; /* for the loader's search path; ends with NULL */
    const mo_dynlib_symbol *symbols; /* ends with a NULL name */

    /* Queries the version. Returns false when the symbols for that are
     * missing: then it is some other library. */
    bool (*version)(const mo_dynlib *api, int version[3]);
    int min_version[2]; /* major and minor of the oldest supported version */

    /* Further requirements. May be NULL. */
    mo_status (*check)(const mo_dynlib *api, mo_error *err);
} mo_dynlib_spec;

/*
 * Opens path, or for NULL the first soname that the loader finds, and fills
 * api, a struct of kind->size bytes of the caller. Returns MO_E_SUPPORT when
 * it is another library or too old; the text has the path, the version, and
 * the missing symbol.
 */
mo_status mo_dynlib_open(const mo_dynlib_spec *spec, const char *path,
                         mo_dynlib *api, mo_error *err);

/* Implements mo_dynlib_spec.version for three separate functions. */
bool mo_dynlib_query_version(int (*major)(void), int (*minor)(void),
                             int (*patch)(void), int version[3]);

/* Returns whether the library has at least this version. */
bool mo_dynlib_at_least(const mo_dynlib *api, int major, int minor);

#endif
