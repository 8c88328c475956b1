/* SPDX-License-Identifier: Apache-2.0 */
#include "cost/efficiency.h"

#include <assert.h>
#include <string.h>

mo_generation mo_generation_of(const mo_device *device)
{
    return device->is_cpu ? MO_GEN_CPU : device->generation;
}

static const mo_efficiency *find(const mo_efficiencies *table, mo_class class,
                                 mo_math math, mo_generation generation)
{
    const mo_efficiency *found = NULL;

    for (int i = 0; i < table->n; i++) {
        const mo_efficiency *row = &table->rows[i];

        if (row->class != class || row->math != math)
            continue;
        if (row->generation == generation)
            return row;
        if (row->generation == MO_GEN_UNKNOWN)
            found = row;
    }
    return found;
}

const mo_efficiency *mo_efficiency_of(const mo_efficiencies *table,
                                      mo_class class, mo_generation generation)
{
    const mo_efficiency *found =
        table ? find(table, class, MO_MATH_F32, generation) : NULL;

    if (!found)
        found = find(&mo_efficiencies_builtin, class, MO_MATH_F32, generation);
    assert(found);
    return found;
}

const mo_efficiency *mo_efficiency_of_type(const mo_efficiencies *table,
                                           mo_class class, mo_math math,
                                           mo_generation generation)
{
    return table && math != MO_MATH_F32 ? find(table, class, math, generation)
                                        : NULL;
}
