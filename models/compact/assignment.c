/* SPDX-License-Identifier: Apache-2.0 */
/* Assignment rows, time windows and symmetry breaking. */
#include "models/compact/compact.h"

/* Symmetry-breaking rows for the first ops only.  Later ones add little: a
 * device is new to few ops. */
enum { SYMMETRY_OPS = 16 };

/* s_i >= sum_k head_ik x_ik, where it is tighter than the bound of s_i. */
static void head_row(const mo_compact *c, int i, mo_sink *sink)
{
    const int64_t *head = c->frame->head_ns + (int64_t) i * c->x->n_devices;
    bool differs = false;

    for (int k = 0; k < c->x->n_devices; k++)
        if (mo_compact_place_column(c, i, k) >= 0)
            differs = differs || head[k] > c->frame->est_ns[i];
    if (!differs)
        return;
    mo_sink_term(sink, mo_compact_start_column(c, i), 1);
    for (int k = 0; k < c->x->n_devices; k++)
        if (mo_compact_place_column(c, i, k) >= 0)
            mo_sink_term(sink, mo_compact_place_column(c, i, k),
                         -mo_compact_time(c, head[k]));
    mo_sink_row(sink, MO_GE, 0);
}

/* Returns whether the bound of s_i does not imply the row for every device. */
static bool needs_tail_row(const mo_compact *c, int i)
{
    int64_t first = INT64_MIN;

    if (c->x->out_start[i] == c->x->out_start[i + 1])
        return true;
    for (int k = 0; k < c->x->n_devices; k++)
        if (mo_compact_place_column(c, i, k) >= 0) {
            int64_t latest = mo_transfer_items_latest_start(c->frame, i, k);

            if (latest < c->frame->est_ns[i] ||
                (first != INT64_MIN && latest != first))
                return true;
            first = latest;
        }
    return false;
}

/* Symmetry breaking: among interchangeable devices the smaller number is used
 * first: op i may be on k only if an op before it is on k's twin. */
static void symmetry_rows(const mo_compact *c, mo_sink *sink)
{
    const mo_instance *x = c->x;
    int n = x->n < SYMMETRY_OPS ? x->n : SYMMETRY_OPS;

    mo_sink_family(sink, "twin");
    for (int k = 0; k < x->n_devices; k++)
        for (int i = 0; i < n && c->frame->symmetric_to[k] != MO_FREE; i++) {
            if (mo_compact_place_column(c, i, k) < 0)
                continue;
            mo_sink_term(sink, mo_compact_place_column(c, i, k), 1);
            for (int j = 0; j < i; j++)
                if (mo_compact_place_column(c, j, c->frame->symmetric_to[k]) >=
                    0)
                    mo_sink_term(sink,
                                 mo_compact_place_column(
                                     c, j, c->frame->symmetric_to[k]),
                                 -1);
            mo_sink_row(sink, MO_LE, 0);
        }
}

void mo_compact_assignment_rows(const mo_compact *c, mo_sink *sink)
{
    mo_sink_family(sink, "assign");
    for (int i = 0; i < c->x->n; i++) {
        for (int k = 0; k < c->x->n_devices; k++)
            if (mo_compact_place_column(c, i, k) >= 0)
                mo_sink_term(sink, mo_compact_place_column(c, i, k), 1);
        if (c->incumbent >= 0)
            mo_sink_term(sink, c->incumbent, 1);
        mo_sink_row(sink, MO_EQ, 1);
    }
    const mo_instance *x = c->x;

    mo_sink_family(sink, "group");
    for (int i = 0; i < x->n; i++) {
        int first = x->group[i] == MO_FREE ? i : c->leader[x->group[i]];

        for (int k = 0; k < x->n_devices && first != i; k++)
            if (mo_compact_place_column(c, i, k) >= 0) {
                mo_sink_term(sink, mo_compact_place_column(c, i, k), 1);
                mo_sink_term(sink, mo_compact_place_column(c, first, k), -1);
                mo_sink_row(sink, MO_EQ, 0);
            }
    }
    mo_sink_family(sink, "head");
    for (int i = 0; i < c->x->n; i++)
        head_row(c, i, sink);
    mo_sink_family(sink, "tail");
    for (int i = 0; i < c->x->n; i++)
        if (needs_tail_row(c, i)) {
            /* s_i + sum_k (p_ik + tail_ik) x_ik <= w, which is stronger than a
             * bound: it holds for any makespan.  For a sink there is nothing
             * but this row. */
            const int64_t *tail =
                c->frame->tail_ns + (int64_t) i * c->x->n_devices;

            mo_sink_term(sink, 0, 1);
            mo_sink_term(sink, mo_compact_start_column(c, i), -1);
            for (int k = 0; k < c->x->n_devices; k++)
                if (mo_compact_place_column(c, i, k) >= 0)
                    mo_sink_term(
                        sink, mo_compact_place_column(c, i, k),
                        -mo_compact_time(c, mo_instance_p_ns(c->x, i, k) +
                                                tail[k]));
            mo_sink_row(sink, MO_GE, 0);
        }
    symmetry_rows(c, sink);
}
