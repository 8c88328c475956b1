/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shared_resource.h - resources that two transfers may both need: they exclude
 * each other there (disjunctive constraints).
 */
#ifndef MO_MODELS_COMPACT_SHARED_RESOURCE_H
#define MO_MODELS_COMPACT_SHARED_RESOURCE_H

#include <stdbool.h>

#include "models/compact/compact.h"

/*
 * Iterates over the resources that both of a pair may need:
 *
 *     mo_compact_shared_resource at =
 *         mo_compact_shared_resource_begin(c, first, second);
 *     while (mo_compact_shared_resource_next(&at))
 *         ... at.resource ...
 */
typedef struct mo_compact_shared_resource {
    const mo_transfer_use *u, *v, *u_end,
        *v_end; /* uses that are still to come */
    int resource;
    bool forward, backward; /* is there time for the first to be first, ... */
    bool open;              /* windows do not keep them apart there */
} mo_compact_shared_resource;

mo_compact_shared_resource
mo_compact_shared_resource_begin(const mo_compact *c, int first, int second);

/* Returns whether there is one more. */
bool mo_compact_shared_resource_next(mo_compact_shared_resource *at);

#endif
