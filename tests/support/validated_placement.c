/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/validated_placement.h"

#include "schedule/validate/validate.h"
#include "tests/support/suite.h"

void check_judged(const mo_instance *x, const mo_method_result *placed,
                  const char *name, int seed)
{
    mo_verdict *verdict = NULL;

    MUST(mo_validate(x, placed->schedule, 4, &verdict, &err));
    for (int i = 0; i < verdict->n; i++)
        ck_assert_msg(
            !placed->fits && verdict->violations[i].rule == MO_VIOLATION_MEMORY,
            "%s, seed %d: %s", name, seed, verdict->violations[i].text);
    ck_assert_msg(placed->fits || verdict->n > 0, "%s, seed %d: it does fit",
                  name, seed);
    mo_verdict_free(verdict);
}
