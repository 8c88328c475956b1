/* SPDX-License-Identifier: Apache-2.0 */
#include "base/minmax.h"
#include "schedule/schedule.h"
#include "schedule/shift_state.h"

mo_status mo_schedule_left_shift(const mo_instance *x, mo_schedule *s,
                                 mo_error *err)
{
    mo_shift_state h;
    mo_status status = mo_shift_state_open(&h, x, s, err);

    if (status == MO_OK)
        status = mo_shift_state_run(&h, err);
    if (status == MO_OK) {
        s->makespan_ns = 0;
        for (int v = 0; v < h.n_nodes; v++) {
            const mo_shift_node *it = &h.nodes[v];
            int64_t end_ns = h.end_ns[it->number];

            if (it->number < s->n) {
                s->start_ns[it->op] = end_ns - it->length_ns;
                s->makespan_ns = mo_max_i64(s->makespan_ns, end_ns);
            } else {
                mo_transfer *t = &s->transfers[it->number - s->n];

                t->start_ns = end_ns - it->length_ns;
                t->end_ns = end_ns;
            }
        }
    }
    mo_shift_state_clear(&h);
    return status;
}
