/* SPDX-License-Identifier: Apache-2.0 */
/*
 * operator_cache.h - cache of operator lookups by the address of the type.
 *
 * Types repeat, and equal texts of a graph are the same pointer: a
 * direct-mapped cache saves most lookups.
 */
#ifndef MO_COARSEN_OPERATOR_CACHE_H
#define MO_COARSEN_OPERATOR_CACHE_H

#include "ingest/operator.h"

enum { MO_OPERATOR_CACHE_SIZE = 64 };

/* All zeros is an empty cache. */
typedef struct mo_operator_cache {
    const char *types[MO_OPERATOR_CACHE_SIZE];
    const mo_operator *kinds[MO_OPERATOR_CACHE_SIZE];
} mo_operator_cache;

/* Returns the operator that type denotes; NULL when it is unknown, or type is
 * NULL. */
const mo_operator *mo_operator_cache_find(mo_operator_cache *known,
                                          const char *type);

#endif
