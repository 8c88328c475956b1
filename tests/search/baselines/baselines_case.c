#include "tests/search/baselines/baselines_case.h"

#include "tests/support/suite.h"

const mo_regime method_plain = { MO_CONGESTION_NONE, MO_TENSORS_PER_EDGE,
                                 MO_MEMORY_NONE };

mo_placed method_place(const mo_method *method, const mo_instance *x,
                       const mo_regime *regime)
{
    const mo_task task = { .x = x, .regime = *regime };
    mo_placed placed = { 0 };

    MUST(method->place(&task, &placed, &err));
    return placed;
}
