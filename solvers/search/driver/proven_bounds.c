/* SPDX-License-Identifier: Apache-2.0 */
#include "solvers/search/driver/proven_bounds.h"

#include <stdlib.h>
#include <string.h>

typedef struct handing {
    const mo_search_state *s;
    mo_proven_bounds *strength;
    int n_devices, n_pairs;
    int64_t *table;    /* by pair of devices */
    int64_t *added_ns; /* by pair: what the blocks of a kind come to */
} handing;

/* Those that cannot be are told as such; the others without v's own time, which
 * times of a kind end with. */
static int64_t until_start_ns(const handing *h, const mo_decomp_class *kind,
                              int v, int pair)
{
    if (kind->lower_ns[pair] == INT64_MAX)
        return MO_MAX_TOTAL_NS;
    if (v == MO_FREE)
        return kind->lower_ns[pair];
    return kind->lower_ns[pair] -
           mo_instance_p_ns(h->s->x, v, pair % h->n_devices);
}

static mo_status hand_out_piece(handing *h, int piece, mo_error *err)
{
    const mo_decomp_segments *pieces = h->s->pieces;
    int u = mo_decomp_segment_entry(pieces, piece),
        v = mo_decomp_segment_exit(pieces, piece);
    const mo_decomp_class *kind = &h->s->kinds->kinds[pieces->kind[piece]];

    for (int pair = 0; pair < h->n_pairs; pair++)
        h->table[pair] = until_start_ns(h, kind, v, pair);
    return mo_proven_bounds_add(h->strength, u, v, h->table, err);
}

/* Do the blocks tell all that is known of the kind? */
static mo_status blocks_tell_all(handing *h, int number, bool *all,
                                 mo_error *err)
{
    const mo_decomp_class *kind = &h->s->kinds->kinds[number];
    mo_status status;

    *all = false;
    if (!h->s->blocks || !h->s->blocks->chained[number].chain)
        return MO_OK;
    memset(h->added_ns, 0, (size_t) h->n_pairs * sizeof *h->added_ns);
    status =
        mo_chain_blocks_min_times(h->s->blocks, number, NULL, h->added_ns, err);
    *all = true;
    for (int pair = 0; pair < h->n_pairs; pair++)
        *all &= h->added_ns[pair] >= kind->lower_ns[pair];
    return status;
}

/* Ops of a kind's instance are those of the piece, in their order. */
static int in_whole(int op, int first)
{
    return op == MO_FREE ? MO_FREE : first + op;
}

/* A chain begins before a piece's u and ends behind its v: with nothing that
 * is the piece's. */
static bool is_outside(const mo_decomp_segments *pieces, int piece,
                       const mo_bound_segment *segment)
{
    return (segment->u == MO_FREE && piece > 0) ||
           (segment->v == MO_FREE && piece < pieces->n - 1);
}

static mo_status hand_out_block(handing *h, const mo_bound_segment *segment,
                                const mo_chain_block *block, int first,
                                mo_error *err)
{
    for (int pair = 0; pair < h->n_pairs; pair++)
        h->table[pair] = block->lower_ns[pair] == INT64_MAX
                             ? MO_MAX_TOTAL_NS
                             : block->lower_ns[pair];
    return mo_proven_bounds_add(h->strength, in_whole(segment->u, first),
                                in_whole(segment->v, first), h->table, err);
}

static mo_status hand_out_blocks(handing *h, int piece, mo_error *err)
{
    const mo_decomp_segments *pieces = h->s->pieces;
    const mo_chain_partition *chained =
        &h->s->blocks->chained[pieces->kind[piece]];
    int first = mo_decomp_segment_first_op(pieces, piece);
    mo_status status = MO_OK;

    for (int i = 0; i < chained->chain->n && status == MO_OK; i++) {
        const mo_bound_segment *segment = &chained->chain->segments[i];
        const mo_chain_block *block = &h->s->blocks->blocks[chained->block[i]];

        if (!is_outside(pieces, piece, segment))
            status = hand_out_block(h, segment, block, first, err);
    }
    return status;
}

static mo_status hand_out_all(handing *h, mo_error *err)
{
    const mo_decomp_segments *pieces = h->s->pieces;
    mo_status status = MO_OK;

    for (int piece = 0; piece < pieces->n && status == MO_OK; piece++) {
        bool by_blocks;

        status = blocks_tell_all(h, pieces->kind[piece], &by_blocks, err);
        if (status == MO_OK)
            status = by_blocks ? hand_out_blocks(h, piece, err)
                               : hand_out_piece(h, piece, err);
    }
    return status;
}

mo_status mo_search_export_proven_bounds(const mo_search_state *s,
                                         mo_proven_bounds *strength,
                                         mo_error *err)
{
    size_t n_pairs = (size_t) s->states.n * (size_t) s->states.n;
    handing h = { .s = s,
                  .strength = strength,
                  .n_devices = s->x->n_devices,
                  .n_pairs = (int) n_pairs };
    mo_status status;

    if (!s->states.all || !s->pieces)
        return MO_OK;
    h.table = calloc(n_pairs, sizeof *h.table);
    h.added_ns = calloc(n_pairs, sizeof *h.added_ns);
    status =
        h.table && h.added_ns ? hand_out_all(&h, err) : mo_fail_memory(err);
    free(h.table);
    free(h.added_ns);
    return status;
}
