/* SPDX-License-Identifier: Apache-2.0 */
/*
 * known.h - the operators of a graph's types; for this room only.
 *
 * Types repeat, and equal texts of a graph are the same pointer: each is looked
 * up once, and then found by its address as long as nothing takes its place.
 */
#ifndef MO_COARSEN_OPERATOR_CACHE_H
#define MO_COARSEN_OPERATOR_CACHE_H

#include "ingest/operator.h"

enum { MO_OPERATOR_CACHE_SIZE = 64 };

/* All zeros knows nothing yet. */
typedef struct mo_operator_cache {
    const char *types[MO_OPERATOR_CACHE_SIZE];
    const mo_operator *kinds[MO_OPERATOR_CACHE_SIZE];
} mo_operator_cache;

/* What type stands for; NULL when nobody told us, or there is no type. */
const mo_operator *mo_operator_cache_find(mo_operator_cache *known,
                                          const char *type);

#endif
