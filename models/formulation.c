/* SPDX-License-Identifier: Apache-2.0 */
#include "models/formulation.h"

#include <assert.h>
#include <string.h>

const mo_formulation *const mo_formulations[] = {
    &mo_formulation_compact,
    &mo_formulation_paper,
    &mo_formulation_getf,
    &mo_formulation_sct,
    &mo_formulation_pesto,
    &mo_formulation_period,
    &mo_formulation_patterns,
    &mo_formulation_patterns_lower,
    &mo_formulation_patterns_period,
    NULL
};

const mo_formulation *mo_formulation_of(const char *name)
{
    const mo_formulation *const *at = mo_formulations;

    while (*at && strcmp((*at)->name, name) != 0)
        at++;
    assert(*at);
    return *at;
}

bool mo_formulation_has_period(const char *name)
{
    for (const mo_formulation *const *at = mo_formulations; *at; at++)
        if (strcmp((*at)->name, name) == 0)
            return (*at)->is_period;
    return false;
}
