/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chain_path.c - shortest paths over the devices of the chain's ops, by dynamic
 * programming. The chain of a segment class begins and ends with its u and v,
 * where it has them, since those are clean cuts of its instance: they are
 * the v of some chain segment. There the path is fixed to the devices of the
 * boundary.
 */
#include "solvers/search/bound/chain/chain_bound.h"

#include <stdlib.h>
#include <string.h>

typedef struct path_search {
    const mo_chain_blocks *blocks;
    const mo_decomp_class *cls;
    const mo_chain_partition *partition;
    int64_t *const *tables;
    int64_t *distance_ns,
        *next_ns;     /* by device: least end of the chain's op there */
    int *predecessor; /* NULL, or by segment and device behind it: the device
                         before it */
} path_search;

static mo_status init_path_search(path_search *w, const mo_chain_blocks *blocks,
                                  int cls, int64_t *const *tables,
                                  mo_error *err)
{
    size_t n_devices = (size_t) blocks->classes->x->n_devices;

    *w = (path_search){ .blocks = blocks,
                        .cls = &blocks->classes->classes[cls],
                        .partition = &blocks->partitions[cls],
                        .tables = tables };
    w->distance_ns = malloc(n_devices * sizeof *w->distance_ns);
    w->next_ns = malloc(n_devices * sizeof *w->next_ns);
    return w->distance_ns && w->next_ns ? MO_OK : mo_fail_memory(err);
}

static void clear_path_search(path_search *w)
{
    free(w->distance_ns);
    free(w->next_ns);
    free(w->predecessor);
}

/* Advances distance_ns to the ends of the segment's v, with u of the segment
 * class on device a. */
static void extend_over_segment(path_search *w, int segment, int a)
{
    const mo_bound_segment *s = &w->partition->chain->segments[segment];
    const mo_instance *x = w->cls->part->x;
    int block = w->partition->block[segment];
    const int64_t *table =
        w->tables ? w->tables[block] : w->blocks->blocks[block].lower_ns;
    int n = x->n_devices;
    int64_t *next = w->next_ns;

    for (int k = 0; k < n; k++) {
        int before = -1;

        next[k] = INT64_MAX;
        if (s->v != MO_FREE && s->v == w->cls->u && k != a)
            continue;
        for (int j = 0; j < n; j++)
            if (w->distance_ns[j] != INT64_MAX &&
                table[j * n + k] != INT64_MAX &&
                w->distance_ns[j] + table[j * n + k] < next[k]) {
                next[k] = w->distance_ns[j] + table[j * n + k];
                before = j;
            }
        if (s->v != MO_FREE && next[k] != INT64_MAX)
            next[k] += mo_instance_p_ns(x, s->v, k);
        if (w->predecessor)
            w->predecessor[segment * n + k] = before;
    }
    w->next_ns = w->distance_ns;
    w->distance_ns = next;
}

static void start_path(path_search *w)
{
    for (int k = 0; k < w->cls->part->x->n_devices; k++)
        w->distance_ns[k] = k == 0 ? 0 : INT64_MAX;
}

mo_status mo_chain_blocks_min_times(const mo_chain_blocks *blocks, int cls,
                                    int64_t *const *tables, int64_t *times_ns,
                                    mo_error *err)
{
    int n = blocks->classes->x->n_devices;
    path_search w = { 0 };
    mo_status status = init_path_search(&w, blocks, cls, tables, err);

    for (int boundary = 0; boundary < n * n; boundary++)
        times_ns[boundary] = INT64_MAX;
    for (int a = 0; a < n && status == MO_OK; a++)
        if (a == 0 || w.cls->u != MO_FREE) {
            /* Computes the times of all boundaries that begin with device a. */
            int count = w.cls->part->x->n_devices;

            start_path(&w);
            for (int s = 0; s < w.partition->chain->n; s++) {
                extend_over_segment(&w, s, a);
                if (w.cls->v != MO_FREE &&
                    w.partition->chain->segments[s].v == w.cls->v)
                    memcpy(times_ns + (size_t) a * (size_t) count,
                           w.distance_ns, (size_t) count * sizeof *times_ns);
            }
            if (w.cls->v == MO_FREE)
                times_ns[(size_t) a * count] = w.distance_ns[0];
        }
    clear_path_search(&w);
    return status;
}

mo_status mo_chain_blocks_shortest_path(const mo_chain_blocks *blocks, int cls,
                                        int boundary, int64_t *const *tables,
                                        int *boundaries, mo_error *err)
{
    int n = blocks->classes->x->n_devices;
    path_search w = { 0 };
    mo_status status = init_path_search(&w, blocks, cls, tables, err);

    if (status == MO_OK) {
        size_t size = (size_t) w.partition->chain->n * (size_t) n;

        w.predecessor = malloc(size * sizeof *w.predecessor);
        status = w.predecessor ? MO_OK : mo_fail_memory(err);
    }
    if (status == MO_OK) {
        start_path(&w);
        for (int s = 0; s < w.partition->chain->n; s++)
            extend_over_segment(&w, s, boundary / n);

        /* Follows the predecessors from the last segment back. */
        int b = boundary % n;
        const mo_bound_chain *chain = w.partition->chain;
        int count = w.cls->part->x->n_devices, device = 0;

        for (int s = chain->n - 1; s >= 0; s--) {
            int v = chain->segments[s].v, before;

            if (v != MO_FREE && v == w.cls->v)
                device = b;
            before = w.predecessor[s * count + device];
            boundaries[s] = before < 0 ? 0 : before * count + device;
            device = before < 0 ? 0 : before;
        }
    }
    clear_path_search(&w);
    return status;
}

static int64_t op_end_ns(const mo_instance *x, const mo_schedule *s, int op)
{
    return s->start_ns[op] + mo_instance_p_ns(x, op, s->device[op]);
}

static int64_t segment_end_ns(const mo_instance *x, const mo_schedule *s,
                              const mo_bound_segment *segment, int64_t least_ns)
{
    for (int i = 0; i < segment->n; i++) {
        int64_t end_ns = op_end_ns(x, s, segment->ops[i]);

        least_ns = end_ns > least_ns ? end_ns : least_ns;
    }
    return least_ns;
}

void mo_chain_blocks_record_schedule(mo_chain_blocks *blocks, int cls,
                                     const mo_schedule *schedule)
{
    const mo_instance *x = blocks->classes->classes[cls].part->x;
    const mo_chain_partition *partition = &blocks->partitions[cls];

    for (int s = 0; s < partition->chain->n; s++) {
        const mo_bound_segment *segment = &partition->chain->segments[s];
        int u = segment->u, v = segment->v;
        int a = u == MO_FREE ? 0 : schedule->device[u];
        int b = v == MO_FREE ? 0 : schedule->device[v];
        int64_t begin_ns = u == MO_FREE ? 0 : op_end_ns(x, schedule, u);
        int64_t until_ns = v == MO_FREE
                               ? segment_end_ns(x, schedule, segment, begin_ns)
                               : schedule->start_ns[v];
        int64_t *upper_ns =
            &blocks->blocks[partition->block[s]].upper_ns[a * x->n_devices + b];

        if (until_ns - begin_ns < *upper_ns)
            *upper_ns = until_ns - begin_ns;
    }
}
