/* SPDX-License-Identifier: Apache-2.0 */
#include "solvers/search/method.h"

#include <string.h>

const mo_method *const mo_method_table[] = {
    &mo_method_moirai,  &mo_method_single, &mo_method_m_topo,
    &mo_method_m_etf,   &mo_method_m_sct,  &mo_method_getf,
    &mo_method_heft,    &mo_method_peft,   &mo_method_cpop,
    &mo_method_pesto,   &mo_method_hare,   &mo_method_dp_contiguous,
    &mo_method_placeto, &mo_method_hrl,    NULL,
};

const mo_method *mo_method_find(const char *name)
{
    for (int i = 0; mo_method_table[i]; i++)
        if (strcmp(mo_method_table[i]->name, name) == 0)
            return mo_method_table[i];
    return NULL;
}

void mo_method_result_clear(mo_method_result *placed)
{
    mo_schedule_free(placed->schedule);
    *placed = (mo_method_result){ 0 };
}
