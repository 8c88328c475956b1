#include "report/method_table.h"

#include <stddef.h>

const mo_placement_row *mo_placements_best(const mo_placements *p)
{
    return p->n > 0 && !p->rows[0].why && p->rows[0].fits ? &p->rows[0] : NULL;
}

bool mo_placements_has_gap(const mo_placements *p, const mo_placement_row *row)
{
    return row->makespan_ns >= p->bound_ns;
}

double mo_placements_gap(const mo_placements *p, const mo_placement_row *row)
{
    if (row->makespan_ns == 0)
        return 0;
    return (double) (row->makespan_ns - p->bound_ns) /
           (double) row->makespan_ns;
}

double mo_placements_loss(const mo_placements *p, int device)
{
    const mo_placement_row *best = mo_placements_best(p);

    if (best->makespan_ns == 0)
        return 0;
    return (double) p->losses[device].makespan_ns / (double) best->makespan_ns -
           1;
}
