/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Export of the bounds proven on segments and blocks, as cutting planes of a
 * MILP model.
 */
#include "solvers/search/driver/state.h"

#include <stdlib.h>
#include <string.h>

#include "base/minmax.h"

typedef struct export
{
    const mo_search_state *s;
    mo_proven_bounds *strength;
    int n_devices, n_boundaries;
    int64_t *table;    /* by boundary */
    int64_t *chain_ns; /* by boundary: the chain bound of the class */
}
export;

/* Returns the bound up to the start of v: class times include v. An infeasible
 * boundary gets MO_MAX_TOTAL_NS. */
static int64_t until_start_ns(const export *h, const mo_decomp_class *cls,
                              int v, int boundary)
{
    if (cls->lower_ns[boundary] == INT64_MAX)
        return MO_MAX_TOTAL_NS;
    if (v == MO_FREE)
        return cls->lower_ns[boundary];
    return cls->lower_ns[boundary] -
           mo_instance_p_ns(h->s->x, v, boundary % h->n_devices);
}

static mo_status export_segment(export *h, int segment, mo_error *err)
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

/* Sets *all if the chain bound implies all bounds of the class. */
static mo_status chain_implies_all(export *h, int number, bool *all,
                                   mo_error *err)
{
    const mo_decomp_class *cls = &h->s->classes->classes[number];
    mo_status status;

    *all = false;
    if (!h->s->blocks || !h->s->blocks->partitions[number].chain)
        return MO_OK;
    memset(h->chain_ns, 0, (size_t) h->n_boundaries * sizeof *h->chain_ns);
    status =
        mo_chain_blocks_min_times(h->s->blocks, number, NULL, h->chain_ns, err);
    *all = true;
    for (int boundary = 0; boundary < h->n_boundaries; boundary++)
        *all &= h->chain_ns[boundary] >= cls->lower_ns[boundary];
    return status;
}

/* Returns an op of the sub-instance as an op of the whole instance. */
static int to_whole_op(int op, int first)
{
    return op == MO_FREE ? MO_FREE : first + op;
}

static mo_status export_blocks(export *h, int segment, mo_error *err)
{
    const mo_decomp_segments *segments = h->s->segments;
    const mo_chain_partition *chained =
        &h->s->blocks->partitions[segments->cls[segment]];
    int first = mo_decomp_segment_first_op(segments, segment);
    mo_status status = MO_OK;

    for (int i = 0; i < chained->chain->n && status == MO_OK; i++) {
        const mo_bound_segment *chain_segment = &chained->chain->segments[i];
        const mo_chain_block *block = &h->s->blocks->blocks[chained->block[i]];

        /* The first and last segment of a chain lie outside u and v. */
        if ((chain_segment->u == MO_FREE && segment > 0) ||
            (chain_segment->v == MO_FREE && segment < segments->n - 1))
            continue;
        for (int boundary = 0; boundary < h->n_boundaries; boundary++)
            h->table[boundary] =
                mo_min_i64(block->lower_ns[boundary], MO_MAX_TOTAL_NS);
        status = mo_proven_bounds_add(
            h->strength, to_whole_op(chain_segment->u, first),
            to_whole_op(chain_segment->v, first), h->table, err);
    }
    return status;
}

static mo_status export_all(export *h, mo_error *err)
{
    const mo_decomp_segments *segments = h->s->segments;
    mo_status status = MO_OK;

    for (int segment = 0; segment < segments->n && status == MO_OK; segment++) {
        bool by_blocks;

        status = chain_implies_all(h, segments->cls[segment], &by_blocks, err);
        if (status == MO_OK)
            status = by_blocks ? export_blocks(h, segment, err)
                               : export_segment(h, segment, err);
    }
    return status;
}

mo_status mo_search_export_proven_bounds(const mo_search_state *s,
                                         mo_proven_bounds *strength,
                                         mo_error *err)
{
    size_t n_boundaries = (size_t) s->states.n * (size_t) s->states.n;
    export h = { .s = s,
                 .strength = strength,
                 .n_devices = s->x->n_devices,
                 .n_boundaries = (int) n_boundaries };
    mo_status status;

    if (!s->states.all || !s->segments)
        return MO_OK;
    h.table = calloc(n_boundaries, sizeof *h.table);
    h.chain_ns = calloc(n_boundaries, sizeof *h.chain_ns);
    status = h.table && h.chain_ns ? export_all(&h, err) : mo_fail_memory(err);
    free(h.table);
    free(h.chain_ns);
    return status;
}
