/* SPDX-License-Identifier: Apache-2.0 */
#include "base/ablation.h"

#include <stdlib.h>
#include <string.h>

/* The last entry keeps the array from being empty. */
static const char *const names[] = {
#define MO_ABLATION(name, kind) #name,
#include "base/ablation.def"
#undef MO_ABLATION
    NULL
};

bool mo_ablation_list_has(const char *list, const char *name)
{
    size_t length = strlen(name);

    while (list && *list) {
        size_t n = strcspn(list, ",");

        if (n == length && memcmp(list, name, n) == 0)
            return true;
        list += n + (list[n] == ',');
    }
    return false;
}

bool mo_ablated(mo_ablation mechanism)
{
    const char *list = getenv("MOIRAI_ABLATE");

    return list && mechanism < MO_N_ABLATIONS &&
           mo_ablation_list_has(list, names[mechanism]);
}
