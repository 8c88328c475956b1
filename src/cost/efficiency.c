/* SPDX-License-Identifier: Apache-2.0 */
#include "cost/efficiency.h"

#include <assert.h>
#include <string.h>

static const char *const generation_names[] = {
    [MO_GEN_UNKNOWN] = "unknown",
    [MO_GEN_CPU] = "cpu",
    [MO_GEN_PASCAL] = "pascal",
    [MO_GEN_VOLTA] = "volta",
    [MO_GEN_TURING] = "turing",
    [MO_GEN_AMPERE] = "ampere",
    [MO_GEN_ADA] = "ada",
    [MO_GEN_HOPPER] = "hopper",
    [MO_GEN_BLACKWELL] = "blackwell",
};

const char *mo_generation_name(mo_generation generation)
{
    return generation_names[generation];
}

bool mo_generation_find(const char *name, mo_generation *generation)
{
    for (int i = MO_GEN_UNKNOWN + 1; i < MO_GENERATIONS; i++) {
        if (strcmp(generation_names[i], name) == 0) {
            *generation = (mo_generation) i;
            return true;
        }
    }
    return false;
}

mo_generation mo_generation_of(const mo_device *device)
{
    if (device->is_cpu)
        return MO_GEN_CPU;
    return device->known ? device->known->generation : MO_GEN_UNKNOWN;
}

static const mo_efficiency *find(const mo_efficiencies *table, mo_class class,
                                 mo_generation generation)
{
    const mo_efficiency *found = NULL;

    for (int i = 0; i < table->n; i++) {
        const mo_efficiency *row = &table->rows[i];

        if (row->class != class)
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
    const mo_efficiency *found = table ? find(table, class, generation) : NULL;

    if (!found)
        found = find(&mo_efficiencies_builtin, class, generation);
    assert(found);
    return found;
}
