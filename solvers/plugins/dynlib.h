/* SPDX-License-Identifier: Apache-2.0 */
/*
 * library.h - a solver's library, loaded at run time.
 *
 * Nothing of a solver is needed to build us: what we call of it is declared in
 * <solver>_api.h, a struct of function pointers that begins with a mo_dynlib
 * and is filled from a table of symbols.  A library that was opened stays: some
 * have threads, or handlers that run at the end.
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
    bool optional; /* without it the pointer is NULL */
} mo_dynlib_symbol;

typedef struct mo_dynlib_spec {
    const char *title;               /* "HiGHS" */
    size_t size;                     /* of the struct */
    const char *const *sonames;      /* for the loader's path; ends with NULL */
    const mo_dynlib_symbol *symbols; /* ends with a NULL name */

    /* Asks it.  False when the symbols for that are not there: then it is some
     * other library. */
    bool (*version)(const mo_dynlib *api, int version[3]);
    int oldest[2]; /* major and minor of what we can work with */

    /* What else it must be for us to work with it.  May be NULL. */
    mo_status (*check)(const mo_dynlib *api, mo_error *err);
} mo_dynlib_spec;

/*
 * Opens path, or when that is NULL the first soname the loader finds, and fills
 * api.  MO_E_SUPPORT when it is another library or too old; the text has the
 * path, the version, and the symbol that is missing.
 */
mo_status mo_dynlib_open(const mo_dynlib_spec *kind, const char *path,
                         mo_dynlib *api, mo_error *err);

/* For a kind's version, where the three numbers are told one by one. */
bool mo_dynlib_query_version(int (*major)(void), int (*minor)(void),
                             int (*patch)(void), int version[3]);

/* Does the solver have at least this version? */
bool mo_dynlib_at_least(const mo_dynlib *api, int major, int minor);

#endif
