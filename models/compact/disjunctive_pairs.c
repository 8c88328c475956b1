/* SPDX-License-Identifier: Apache-2.0 */
#include "base/minmax.h"
#include "models/compact/disjunctive_pairs.h"

/* Returns whether first may end before second starts, both on device. */
static bool has_time(const mo_frame *f, int first, int second, int device)
{
    int64_t n_devices = f->x->n_devices;

    return f->head_ns[first * n_devices + device] +
               mo_instance_p_ns(f->x, first, device) +
               mo_instance_p_ns(f->x, second, device) +
               f->tail_ns[second * n_devices + device] <=
           f->horizon_ns;
}

/* Returns whether first has ended at the earliest start of second, both on
 * device. */
static bool is_settled(const mo_frame *f, int first, int second, int device)
{
    int64_t n_devices = f->x->n_devices;

    return f->horizon_ns - f->tail_ns[first * n_devices + device] <=
           f->head_ns[second * n_devices + device];
}

mo_disjunction mo_disjunction_on_device(const mo_frame *frame, int i, int j,
                                        int device)
{
    bool forward, backward;

    if (!mo_frame_allowed(frame, i, device) ||
        !mo_frame_allowed(frame, j, device))
        return MO_DISJUNCTION_NONE;
    if ((mo_instance_p_ns(frame->x, i, device) == 0 &&
         mo_instance_p_ns(frame->x, j, device) == 0) ||
        is_settled(frame, i, j, device) || is_settled(frame, j, i, device))
        return MO_DISJUNCTION_SETTLED;
    forward = has_time(frame, i, j, device);
    backward = has_time(frame, j, i, device);
    if (forward)
        return backward ? MO_DISJUNCTION_EITHER : MO_DISJUNCTION_FORWARD;
    return backward ? MO_DISJUNCTION_BACKWARD : MO_DISJUNCTION_INFEASIBLE;
}

/* Fills in the rest of a pair; returns whether there is anything to decide. */
static bool classify_pair(mo_disjunctive_pairs *pairs)
{
    const mo_frame *f = pairs->frame;
    bool any = false;

    pairs->forward = pairs->backward = false;
    for (int k = 0; k < f->x->n_devices; k++) {
        mo_disjunction disjunction =
            mo_disjunction_on_device(f, pairs->i, pairs->j, k);
        if (disjunction == MO_DISJUNCTION_NONE ||
            disjunction == MO_DISJUNCTION_SETTLED)
            continue;
        any = true;
        if (disjunction == MO_DISJUNCTION_FORWARD ||
            disjunction == MO_DISJUNCTION_EITHER)
            pairs->forward = true;
        if (disjunction == MO_DISJUNCTION_BACKWARD ||
            disjunction == MO_DISJUNCTION_EITHER)
            pairs->backward = true;
    }
    return any;
}

void mo_disjunctive_pairs_begin(const mo_frame *frame,
                                mo_disjunctive_pairs *pairs)
{
    *pairs = (mo_disjunctive_pairs){ .frame = frame };
}

bool mo_disjunctive_pairs_next(mo_disjunctive_pairs *pairs)
{
    const mo_frame *f = pairs->frame;

    for (; pairs->i < f->x->n; pairs->i++) {
        int end;

        while (pairs->next_cut < f->n_cuts &&
               f->cuts[pairs->next_cut] < pairs->i)
            pairs->next_cut++;
        end = pairs->next_cut < f->n_cuts ? f->cuts[pairs->next_cut] : f->x->n;
        if (pairs->j < pairs->i)
            pairs->j = pairs->i;
        /* Where the windows over all devices are apart, no device need be
         * checked. */
        while (++pairs->j < end)
            if (f->lct_ns[pairs->i] > f->est_ns[pairs->j] &&
                f->lct_ns[pairs->j] > f->est_ns[pairs->i] &&
                mo_frame_incomparable(f, pairs->i, pairs->j) &&
                classify_pair(pairs))
                return true;
        pairs->j = 0;
    }
    return false;
}

/* At least: that they are on one device, or both sent, and their order. */
enum { ROWS_OF_PAIR = 2 };

/* Numbers of pairs of ops, and of flows by their producers, between clean
 * cuts. */
static void count_between_cuts(const mo_frame *f, double *ops, double *flows)
{
    const mo_instance *x = f->x;
    int cut = 0;

    *ops = *flows = 0;
    for (int i = 0; i < x->n; i++) {
        int end;

        while (cut < f->n_cuts && f->cuts[cut] <= i)
            cut++;
        end = cut < f->n_cuts ? f->cuts[cut] : x->n;
        *ops += end - i - 1;
        for (int q = x->out_start[i]; q < x->out_start[i + 1]; q++)
            *flows += x->out_start[end] - q - 1;
    }
}

int64_t mo_compact_estimate_rows(const mo_frame *f, int64_t limit)
{
    mo_disjunctive_pairs pairs;
    double n_ops, n_flows, rows;
    int64_t n = 0;

    count_between_cuts(f, &n_ops, &n_flows);
    mo_disjunctive_pairs_begin(f, &pairs);
    while (ROWS_OF_PAIR * n < limit && mo_disjunctive_pairs_next(&pairs))
        n++;
    rows = ROWS_OF_PAIR * (double) n;
    if (f->regime.congestion != MO_CONGESTION_NONE && n > 0)
        rows += rows / n_ops * n_flows;
    return rows < (double) limit ? (int64_t) rows : limit;
}
