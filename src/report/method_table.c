/* SPDX-License-Identifier: Apache-2.0 */
#include "report/method_table.h"

#include <stddef.h>

const mo_report_method_row *mo_report_methods_best(const mo_report_methods *p)
{
    return p->n > 0 && !p->rows[0].why && p->rows[0].fits ? &p->rows[0] : NULL;
}

bool mo_report_methods_has_gap(const mo_report_methods *p,
                               const mo_report_method_row *row)
{
    return row->makespan_ns >= p->bound_ns;
}

double mo_report_methods_gap(const mo_report_methods *p,
                             const mo_report_method_row *row)
{
    if (row->makespan_ns == 0)
        return 0;
    return (double) (row->makespan_ns - p->bound_ns) /
           (double) row->makespan_ns;
}

double mo_report_methods_loss(const mo_report_methods *p, int device)
{
    const mo_report_method_row *best = mo_report_methods_best(p);

    if (best->makespan_ns == 0)
        return 0;
    return (double) p->losses[device].makespan_ns / (double) best->makespan_ns -
           1;
}
