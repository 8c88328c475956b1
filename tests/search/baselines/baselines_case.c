/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/search/baselines/baselines_case.h"

#include "tests/support/suite.h"

const mo_regime method_plain = { MO_CONGESTION_NONE, MO_TENSORS_PER_EDGE,
                                 MO_MEMORY_NONE };

mo_method_result method_place(const mo_method *method, const mo_instance *x,
                              const mo_regime *regime)
{
    const mo_method_task task = { .x = x, .regime = *regime };
    mo_method_result placed = { 0 };

    MUST(method->place(&task, &placed, &err));
    return placed;
}
