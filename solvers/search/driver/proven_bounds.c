/* SPDX-License-Identifier: Apache-2.0 */
#include "solvers/search/driver/proven_bounds.h"

#include <stdlib.h>
#include <string.h>

typedef struct handing {
    const mo_search_state *s;
    mo_proven_bounds *strength;
    int n_devices, n_boundaries;
    int64_t *table;    /* by boundary of devices */
    int64_t *added_ns; /* by boundary: what the blocks of a class come to */
} handing;

/* Those that cannot be are told as such; the others without v's own time, which
 * times of a class end with. */
static int64_t until_start_ns(const handing *h, const mo_decomp_class *cls,
                              int v, int boundary)
{
    if (cls->lower_ns[boundary] == INT64_MAX)
        return MO_MAX_TOTAL_NS;
    if (v == MO_FREE)
        return cls->lower_ns[boundary];
    return cls->lower_ns[boundary] -
           mo_instance_p_ns(h->s->x, v, boundary % h->n_devices);
}

static mo_status export_segment(handing *h, int segment, mo_error *err)
{
    const mo_decomp_segments *segments = h->s->segments;
    int u = mo_decomp_segment_entry(segments, segment),
        v = mo_decomp_segment_exit(segments, segment);
    const mo_decomp_class *cls =
        &h->s->classes->classes[segments->cls[segment]];

    for (int boundary = 0; boundary < h->n_boundaries; boundary++)
        h->table[boundary] = until_start_ns(h, cls, v, boundary);
    return mo_proven_bounds_add(h->strength, u, v, h->table, err);
}

/* Do the blocks tell all that is known of the class? */
static mo_status blocks_tell_all(handing *h, int number, bool *all,
                                 mo_error *err)
{
    const mo_decomp_class *cls = &h->s->classes->classes[number];
    mo_status status;

    *all = false;
    if (!h->s->blocks || !h->s->blocks->chained[number].chain)
        return MO_OK;
    memset(h->added_ns, 0, (size_t) h->n_boundaries * sizeof *h->added_ns);
    status =
        mo_chain_blocks_min_times(h->s->blocks, number, NULL, h->added_ns, err);
    *all = true;
    for (int boundary = 0; boundary < h->n_boundaries; boundary++)
        *all &= h->added_ns[boundary] >= cls->lower_ns[boundary];
    return status;
}

/* Ops of a class's instance are those of the segment, in their order. */
static int in_whole(int op, int first)
{
    return op == MO_FREE ? MO_FREE : first + op;
}

/* A chain begins before a segment's u and ends behind its v: with nothing that
 * is the segment's. */
static bool is_outside(const mo_decomp_segments *segments, int segment,
                       const mo_bound_segment *chain_segment)
{
    return (chain_segment->u == MO_FREE && segment > 0) ||
           (chain_segment->v == MO_FREE && segment < segments->n - 1);
}

static mo_status hand_out_block(handing *h,
                                const mo_bound_segment *chain_segment,
                                const mo_chain_block *block, int first,
                                mo_error *err)
{
    for (int boundary = 0; boundary < h->n_boundaries; boundary++)
        h->table[boundary] = block->lower_ns[boundary] == INT64_MAX
                                 ? MO_MAX_TOTAL_NS
                                 : block->lower_ns[boundary];
    return mo_proven_bounds_add(h->strength, in_whole(chain_segment->u, first),
                                in_whole(chain_segment->v, first), h->table,
                                err);
}

static mo_status hand_out_blocks(handing *h, int segment, mo_error *err)
{
    const mo_decomp_segments *segments = h->s->segments;
    const mo_chain_partition *chained =
        &h->s->blocks->chained[segments->cls[segment]];
    int first = mo_decomp_segment_first_op(segments, segment);
    mo_status status = MO_OK;

    for (int i = 0; i < chained->chain->n && status == MO_OK; i++) {
        const mo_bound_segment *chain_segment = &chained->chain->segments[i];
        const mo_chain_block *block = &h->s->blocks->blocks[chained->block[i]];

        if (!is_outside(segments, segment, chain_segment))
            status = hand_out_block(h, chain_segment, block, first, err);
    }
    return status;
}

static mo_status hand_out_all(handing *h, mo_error *err)
{
    const mo_decomp_segments *segments = h->s->segments;
    mo_status status = MO_OK;

    for (int segment = 0; segment < segments->n && status == MO_OK; segment++) {
        bool by_blocks;

        status = blocks_tell_all(h, segments->cls[segment], &by_blocks, err);
        if (status == MO_OK)
            status = by_blocks ? hand_out_blocks(h, segment, err)
                               : export_segment(h, segment, err);
    }
    return status;
}

mo_status mo_search_export_proven_bounds(const mo_search_state *s,
                                         mo_proven_bounds *strength,
                                         mo_error *err)
{
    size_t n_boundaries = (size_t) s->states.n * (size_t) s->states.n;
    handing h = { .s = s,
                  .strength = strength,
                  .n_devices = s->x->n_devices,
                  .n_boundaries = (int) n_boundaries };
    mo_status status;

    if (!s->states.all || !s->segments)
        return MO_OK;
    h.table = calloc(n_boundaries, sizeof *h.table);
    h.added_ns = calloc(n_boundaries, sizeof *h.added_ns);
    status =
        h.table && h.added_ns ? hand_out_all(&h, err) : mo_fail_memory(err);
    free(h.table);
    free(h.added_ns);
    return status;
}
