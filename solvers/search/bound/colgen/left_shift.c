/* SPDX-License-Identifier: Apache-2.0 */
#include "solvers/search/bound/colgen/left_shift.h"

enum { NONE = -1 };

/* The arrival at a device is known to the tick. */
static bool is_known(const mo_cg_node *s, int device)
{
    return s->fate[device] == MO_CG_ARRIVAL_REQUIRED &&
           s->lo[device] == s->hi[device];
}

/* Whether transfers of a pair exclude the shared tensor's to a device. */
static bool is_excluded(const mo_cg_problem *c, int pair, int device)
{
    return mo_cg_pairs_conflict(c, pair, mo_cg_device_pair(c, c->a, device));
}

/* The first end of a transfer that could end at a tick, were it not for
 * arrivals that are known. */
static int64_t end_beside_known(const mo_cg_problem *c, const mo_cg_node *s,
                                int pair, int64_t length, int64_t end)
{
    for (int round = 0; round < c->n_devices && length > 0; round++)
        for (int k = 0; k < c->n_devices; k++)
            if (is_known(s, k) && mo_cg_broadcast_ticks(c, k) > 0 &&
                is_excluded(c, pair, k) &&
                end > s->lo[k] - mo_cg_broadcast_ticks(c, k) &&
                end - length < s->lo[k])
                end = s->lo[k] + length;
    return end;
}

static bool may_be_sent_to(const mo_cg_problem *c, const mo_cg_node *s,
                           int node, int device)
{
    int reader = c->tree->nodes[node].reader;

    return reader == MO_FREE
               ? device == c->b
               : mo_cg_node_allows(s,
                                   mo_cg_tree_node_device(c, reader, device));
}

/* The first end of what a node makes and sends in the way of the shared
 * tensor's transfer to a device. */
static int64_t first_end_of(const mo_cg_problem *c, const mo_cg_node *s,
                            int node, int device)
{
    int64_t first = INT64_MAX;

    for (int from = 0; from < c->n_devices; from++)
        for (int to = 0; to < c->n_devices; to++) {
            int at = mo_cg_tree_node_device(c, node, from);
            int pair = mo_cg_device_pair(c, from, to);
            int64_t length, end;

            if (from == to || !mo_cg_node_allows(s, at) ||
                !may_be_sent_to(c, s, node, to) ||
                !is_excluded(c, pair, device))
                continue;
            length = mo_cg_transfer_ticks(c, c->row[node], from, to);
            end = end_beside_known(c, s, pair, length,
                                   s->est[at] + c->p[at] + length);
            first = end < first ? end : first;
        }
    return first;
}

/* The first end of any transfer but the shared tensor's that is in the way of
 * that to a device. */
static int64_t first_end(const mo_cg_problem *c, const mo_cg_node *s,
                         int device)
{
    int64_t first = INT64_MAX;

    for (int i = 0; i < c->n_nodes; i++) {
        int64_t end =
            c->row[i] == NONE ? INT64_MAX : first_end_of(c, s, i, device);

        if (c->from_u[i] == MO_CG_INPUT_TRANSFER)
            return 0;
        first = end < first ? end : first;
    }
    return first;
}

/* The least of what is at least a tick: of one that is known, and of all from
 * one on. */
static int64_t or_exactly(int64_t least, int64_t tick, int64_t exactly)
{
    return exactly >= tick && exactly < least ? exactly : least;
}

static int64_t or_from(int64_t least, int64_t tick, int64_t from)
{
    from = from > tick ? from : tick;
    return from < least ? from : least;
}

int64_t mo_cg_left_shift_next(const mo_cg_problem *c, const mo_cg_node *s,
                              int device, int64_t tick)
{
    int64_t length = mo_cg_broadcast_ticks(c, device);
    int64_t end = first_end(c, s, device);
    int64_t least = or_exactly(INT64_MAX, tick, length);

    if (end != INT64_MAX)
        least = or_from(least, tick, end + length);
    for (int k = 0; k < c->n_devices; k++) {
        if (k == device || s->fate[k] == MO_CG_ARRIVAL_FORBIDDEN ||
            !is_excluded(c, mo_cg_device_pair(c, c->a, k), device))
            continue;
        least = is_known(s, k) ? or_exactly(least, tick, s->lo[k] + length)
                               : or_from(least, tick, s->lo[k] + length);
    }
    return least;
}
