/* SPDX-License-Identifier: Apache-2.0 */
#include "models/paper/placement_block.h"

#include <stdlib.h>

mo_status mo_placement_block_init(mo_placement_block *p, const mo_instance *x,
                                  const int *device, int n_slots, mo_error *err)
{
    *p = (mo_placement_block){ .x = x, .n_slots = n_slots };
    p->device = calloc((size_t) p->n_slots + 1, sizeof *p->device);
    p->slot = calloc((size_t) p->x->n_devices + 1, sizeof *p->slot);
    p->group_first = calloc((size_t) p->x->n + 1, sizeof *p->group_first);
    if (!p->device || !p->slot || !p->group_first)
        return mo_fail_memory(err);
    for (int k = 0; k < p->x->n_devices; k++)
        p->slot[k] = -1;
    for (int s = 0; s < p->n_slots; s++) {
        p->device[s] = device ? device[s] : s;
        p->slot[p->device[s]] = s;
    }
    int *first = malloc(((size_t) p->x->n_groups + 1) * sizeof *first);

    if (!first)
        return mo_fail_memory(err);
    for (int g = 0; g < p->x->n_groups; g++)
        first[g] = -1;
    for (int i = 0; i < p->x->n; i++) {
        int g = p->x->group[i];

        if (g != MO_FREE && first[g] < 0)
            first[g] = i;
        p->group_first[i] = g == MO_FREE ? i : first[g];
    }
    free(first);
    return MO_OK;
}

void mo_placement_block_clear(mo_placement_block *p)
{
    free(p->device);
    free(p->slot);
    free(p->group_first);
    *p = (mo_placement_block){ 0 };
}

void mo_placement_block_columns(mo_placement_block *p, const mo_schedule *start,
                                mo_sink *sink)
{
    p->first = sink->n_columns;
    for (int i = 0; i < p->x->n; i++)
        for (int s = 0; s < p->n_slots; s++)
            mo_sink_column(
                sink, &(mo_variable){
                          .role = MO_VARIABLE_ROLE_PLACE,
                          .number = { i, p->device[s] },
                          .kind = MO_VARIABLE_BINARY,
                          .upper = 1,
                          .value = start && start->device[i] == p->device[s],
                      });
}

void mo_placement_block_rows(const mo_placement_block *p, mo_sink *sink)
{
    mo_sink_family(sink, "assignment");
    for (int i = 0; i < p->x->n; i++) {
        for (int s = 0; s < p->n_slots; s++)
            mo_sink_term(sink, mo_placement_block_column(p, i, s), 1);
        mo_sink_row(sink, MO_EQ, 1);
    }
    mo_sink_family(sink, "pin");
    for (int i = 0; i < p->x->n; i++)
        if (p->x->pin[i] != MO_FREE) {
            mo_sink_term(sink,
                         mo_placement_block_column(p, i, p->slot[p->x->pin[i]]),
                         1);
            mo_sink_row(sink, MO_EQ, 1);
        }
    /* Every op of a group is on the device of its first op. */
    mo_sink_family(sink, "group");
    for (int i = 0; i < p->x->n; i++) {
        int first = p->group_first[i];

        for (int s = 0; s < p->n_slots && first != i; s++) {
            mo_sink_term(sink, mo_placement_block_column(p, i, s), 1);
            mo_sink_term(sink, mo_placement_block_column(p, first, s), -1);
            mo_sink_row(sink, MO_EQ, 0);
        }
    }
}
