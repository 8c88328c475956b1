/*
 * known.h - the operators of a graph's types; for this room only.
 *
 * Types repeat, and equal texts of a graph are the same pointer: each is looked
 * up once, and then found by its address as long as nothing takes its place.
 */
#ifndef MO_COARSEN_OPERATOR_CACHE_H
#define MO_COARSEN_OPERATOR_CACHE_H

#include "ingest/operator.h"

enum { MO_KNOWN = 64 };

/* All zeros knows nothing yet. */
typedef struct mo_known {
    const char *types[MO_KNOWN];
    const mo_operator *kinds[MO_KNOWN];
} mo_known;

/* What type stands for; NULL when nobody told us, or there is no type. */
const mo_operator *mo_known_find(mo_known *known, const char *type);

#endif
