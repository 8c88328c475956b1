#include "schedule/resource.h"
#include "solvers/search/fork_fast_parts.h"

static void tell_op(const mo_fast *f, const mo_fast_pattern *pattern, int op,
                    mo_fast_told *told, void *context)
{
    const mo_fast_op *o = &f->ops[op];
    int first = f->group_start[pattern->group];
    int device = pattern->device[op - first], to = f->b;
    bool early = pattern->early[op - first];
    mo_fast_used run = { -1, device, early, mo_fast_run(f, op, device) };
    mo_fast_used read = { f->a, device, early, mo_fast_read(f, op, device) };

    run.item.ns *= o->count;
    told(context, &run);
    read.item.ns *= o->count;
    if (read.item.ns > 0)
        told(context, &read);
    if (o->reader != MO_FREE)
        to = pattern->device[o->reader - first];
    if (o->row >= 0 && to != device) {
        mo_fast_used send = { device, to, false,
                              mo_fast_send(f, op, device, to) };

        send.early = o->reader != MO_FREE && pattern->early[o->reader - first];
        send.item.ns *= o->count;
        told(context, &send);
    }
}

void mo_fast_tell(const mo_fast *f, const mo_fast_pattern *pattern,
                  mo_fast_told *told, void *context)
{
    for (int o = f->group_start[pattern->group];
         o < f->group_start[pattern->group + 1]; o++)
        tell_op(f, pattern, o, told, context);
}

typedef struct loader {
    const mo_fast *f;
    const mo_fast_rows *rows;
    const mo_fast_index *index;
    int64_t *load_ns;
} loader;

static void load_resource(const loader *l, int resource,
                          const mo_fast_used *used)
{
    for (int i = l->index->first[resource]; i >= 0; i = l->index->next[i]) {
        const mo_fast_row *row = &l->rows->rows[i];

        if (mo_fast_counts(row, &used->item) &&
            !(row->late >= 0 && used->early))
            l->load_ns[i] += used->item.ns;
    }
}

static void load(void *context, const mo_fast_used *used)
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
    for (size_t i = 0; used->early && i < l->rows->n; i++)
        if (mo_fast_feeds(l->f, &l->rows->rows[i], used->from, used->to))
            l->load_ns[i] += used->item.ns;
}

void mo_fast_load(const mo_fast *f, const mo_fast_rows *rows,
                  const mo_fast_index *index, const mo_fast_pattern *pattern,
                  int64_t *load_ns)
{
    loader l = { f, rows, index, load_ns };

    mo_fast_tell(f, pattern, load, &l);
}
