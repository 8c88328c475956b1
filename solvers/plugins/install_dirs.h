/*
 * places.h - folders and files of ours, wherever we were installed, and of the
 * Python environments that solvers come in.
 *
 * All paths are the caller's.
 */
#ifndef MO_SOLVERS_PLUGINS_INSTALL_DIRS_H
#define MO_SOLVERS_PLUGINS_INSTALL_DIRS_H

#include "base/error.h"

/* A list that ends with NULL. */
typedef struct mo_places {
    char **paths;
    size_t n, room;
} mo_places;

/* Folders in which solvers may lie that belong to nobody but us or Python: the
 * installed lib/moirai, as it is found from here and as it was configured, the
 * site-packages of the Python in PATH, then of the one we were built with.
 * They need not exist. */
enum { MO_PLACES_OURS = 2 };
mo_status mo_places_private(mo_places *places, mo_error *err);
void mo_places_clear(mo_places *places);

/* A file that was installed with us, or lies in the tree we were built in; NULL
 * when it is nowhere.  name is "moirai-scip", "gurobi_run.py". */
char *mo_places_own(const char *name);

/* The interpreter to which a folder of site-packages belongs; NULL: none. */
char *mo_places_python(const char *site);

/* The same file from the root, the links on the way resolved; not one that it
 * is itself, since Python goes by the name it is called by.  NULL, with errno,
 * when there is no such file. */
char *mo_places_whole(const char *path);

/* Like printf into memory of the right size; NULL when there is none. */
char *mo_places_text(const char *format, ...) MO_PRINTF(1, 2);

#endif
