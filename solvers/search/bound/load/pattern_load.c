/* SPDX-License-Identifier: Apache-2.0 */
#include "schedule/resource.h"
#include "solvers/search/bound/load/load_bound_internal.h"

static void tell(const mo_load_problem *f, int op, mo_load_use used,
                 mo_load_use_fn *told, void *context)
{
    used.item.ns *= f->ops[op].count;
    if (used.item.ns > 0)
        told(context, &used);
}

static void tell_op(const mo_load_problem *f, const mo_load_pattern *pattern,
                    int op, mo_load_use_fn *told, void *context)
{
    int first = f->group_start[pattern->group], reader = f->ops[op].reader;
    int device = pattern->device[op - first], to = f->b;
    int stage = pattern->stage[op - first], end = f->order.n;

    if (reader != MO_FREE) {
        to = pattern->device[reader - first];
        end = pattern->stage[reader - first];
    }
    tell(f, op,
         (mo_load_use){ -1, device, stage, end,
                        mo_load_item_compute(f, op, device) },
         told, context);
    tell(f, op,
         (mo_load_use){ f->a, device, 0, stage,
                        mo_load_item_input(f, op, device) },
         told, context);
    if (f->ops[op].row >= 0 && to != device)
        tell(f, op,
             (mo_load_use){ device, to, stage, end,
                            mo_load_item_transfer(f, op, device, to) },
             told, context);
}

void mo_load_pattern_for_each_use(const mo_load_problem *f,
                                  const mo_load_pattern *pattern,
                                  mo_load_use_fn *told, void *context)
{
    for (int o = f->group_start[pattern->group];
         o < f->group_start[pattern->group + 1]; o++)
        tell_op(f, pattern, o, told, context);
}

typedef struct loader {
    const mo_load_problem *f;
    const mo_load_rows *rows;
    const mo_load_row_index *index;
    int64_t *load_ns;
} loader;

static void load_resource(const loader *l, int resource,
                          const mo_load_use *used)
{
    for (int i = l->index->first[resource]; i >= 0; i = l->index->next[i]) {
        if (mo_load_row_covers(&l->rows->rows[i], used))
            l->load_ns[i] += used->item.ns;
    }
}

static void load(void *context, const mo_load_use *used)
{
    const loader *l = context;
    int pair[2], n;
    const int *ids;

    if (used->from < 0) {
        load_resource(l, used->to, used);
        return;
    }
    n = mo_resource_list(l->f->x, l->f->congestion, used->from, used->to, pair,
                         &ids);
    for (int i = 0; i < n; i++)
        load_resource(l, l->f->n_devices + ids[i], used);
}

void mo_load_pattern_add_load(const mo_load_problem *f,
                              const mo_load_rows *rows,
                              const mo_load_row_index *index,
                              const mo_load_pattern *pattern, int64_t *load_ns)
{
    loader l = { f, rows, index, load_ns };

    mo_load_pattern_for_each_use(f, pattern, load, &l);
}
