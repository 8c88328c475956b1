/* SPDX-License-Identifier: Apache-2.0 */
/*
 * registry.h - entries that plug-ins add behind a table of built-in ones.
 *
 * Entries are borrowed and live as long as the process. An index that was valid
 * once stays so: readers need no lock. All functions may be called from any
 * thread.
 */
#ifndef MO_BASE_REGISTRY_H
#define MO_BASE_REGISTRY_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "base/error.h"

enum { MO_REGISTRY_MAX = 64 };

typedef struct mo_registry {
    const char *kind;               /* "solver", for errors */
    bool (*has_name)(const char *); /* whether a built-in or added entry has
                                       that name */
    const void *entries[MO_REGISTRY_MAX];
    atomic_int n; /* entries below never change */
    pthread_mutex_t lock;
} mo_registry;

/* Initializer of an empty one. */
#define MO_REGISTRY(kind_, has_name_)                                          \
    {                                                                          \
        .kind = (kind_), .has_name = (has_name_),                              \
        .lock = PTHREAD_MUTEX_INITIALIZER                                      \
    }

/* Adds an entry; a name that is taken, or too many, are MO_E_USAGE. */
mo_status mo_registry_add(mo_registry *registry, const char *name,
                          const void *entry, mo_error *err);

/* Returns the entry that was added as number i, from 0; NULL behind the last.
 */
const void *mo_registry_at(mo_registry *registry, int i);

#endif
