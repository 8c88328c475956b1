/* SPDX-License-Identifier: Apache-2.0 */
#include "report/page/page.h"

bool mo_page_is_period(const mo_page_placement *p)
{
    return p->evaluation->period_ns >= 0;
}

int64_t mo_page_objective_ns(const mo_page_placement *p)
{
    return mo_answer_evaluation_objective_ns(p->evaluation);
}

double mo_page_gap(const mo_page_placement *p, int64_t bound_ns)
{
    double value = (double) mo_page_objective_ns(p);
    double bound = (double) bound_ns;

    return value > bound ? (value - bound) / value : 0;
}
