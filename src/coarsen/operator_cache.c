/* SPDX-License-Identifier: Apache-2.0 */
#include "coarsen/operator_cache.h"

#include <stdint.h>

const mo_operator *mo_operator_cache_find(mo_operator_cache *known,
                                          const char *type)
{
    uint64_t address = (uint64_t) (uintptr_t) type;
    int at = (int) (address * 0x9E3779B97F4A7C15 >> 58);

    if (known->types[at] != type) {
        known->types[at] = type;
        known->kinds[at] = mo_operator_find(type);
    }
    return known->kinds[at];
}

_Static_assert(MO_OPERATOR_CACHE_SIZE == 1 << (64 - 58),
               "one place for each hash");
