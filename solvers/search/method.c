/* SPDX-License-Identifier: Apache-2.0 */
/* The table of placement methods, and those that plug-ins add to it. */
#include "solvers/search/method.h"

#include <string.h>

#include "base/registry.h"

const mo_method *const mo_method_table[] = {
    &mo_method_moirai,  &mo_method_single, &mo_method_m_topo,
    &mo_method_m_etf,   &mo_method_m_sct,  &mo_method_getf,
    &mo_method_heft,    &mo_method_peft,   &mo_method_cpop,
    &mo_method_pesto,   &mo_method_hare,   &mo_method_dp_contiguous,
    &mo_method_placeto, &mo_method_hrl,    NULL,
};

enum { N_BUILT_IN = sizeof mo_method_table / sizeof *mo_method_table - 1 };

static bool has_name(const char *name)
{
    return mo_method_find(name) != NULL;
}

static mo_registry added = MO_REGISTRY("method", has_name);

const mo_method *mo_method_at(int i)
{
    return i < N_BUILT_IN ? mo_method_table[i]
                          : mo_registry_at(&added, i - N_BUILT_IN);
}

const mo_method *mo_method_find(const char *name)
{
    const mo_method *method;

    for (int i = 0; (method = mo_method_at(i)); i++)
        if (strcmp(method->name, name) == 0)
            return method;
    return NULL;
}

mo_status mo_method_add(const mo_method *method, mo_error *err)
{
    return mo_registry_add(&added, method->name, method, err);
}

void mo_method_result_clear(mo_method_result *placed)
{
    mo_schedule_free(placed->schedule);
    mo_proof_free(placed->proof);
    *placed = (mo_method_result){ 0 };
}
