#include "exec/plan/plan.h"

/* Everything lies row by row, as it is lowered. */
mo_status mo_plan_layout(mo_plan *plan, mo_error *err)
{
    (void) plan;
    (void) err;
    return MO_OK;
}
