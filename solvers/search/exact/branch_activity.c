/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Branching by activity (VSIDS): devices first, of the most active unit; then
 * the most active order of two overlapping uses.
 */
#include "solvers/search/exact/exact_internal.h"

static bool is_unassigned(const mo_exact_search *s, int literal)
{
    return literal != MO_EXACT_NO_LITERAL && s->core.truth[literal] == 0;
}

/* Value selection: the device of the best schedule (phase saving), or, in a
 * destructive trial, the one on which the first op of the unit has the
 * shortest head + length + tail. */
static int choose_device(const mo_exact_search *s, int unit)
{
    const mo_exact_model *m = &s->model;
    int first = m->units->ops[m->units->start[unit]];
    bool is_trial = mo_exact_limit_ns(s) < s->horizon_ns;
    int K = m->x->n_devices, best = -1;
    int64_t least = INT64_MAX;

    for (int k = 0; k < K; k++) {
        int mode = m->op_mode[first * K + k];
        int64_t ns;

        if (!is_unassigned(s, m->place_literal[unit * K + k]))
            continue;
        if (!is_trial && s->device[first] == k)
            return k;
        ns = s->core.value[MO_EXACT_HEAD(mode)] + m->modes[mode].length_ns +
             s->core.value[MO_EXACT_TAIL(mode)];
        if (best < 0 || ns < least) {
            best = k;
            least = ns;
        }
    }
    return best;
}

static int branch_on_order(mo_exact_search *s)
{
    int best = MO_EXACT_NO_LITERAL;
    double most = -1;

    for (int r = 0; r < s->model.n_resources; r++) {
        mo_exact_collect_uses(s, r);
        for (int i = 0; i < s->n_use_states; i++)
            for (int j = i + 1; j < s->n_use_states; j++) {
                const mo_exact_use_state *a = &s->use_states[i],
                                         *b = &s->use_states[j];
                /* The order literal in which the use with the smaller head goes
                 * first. */
                bool a_first = a->head_ns != b->head_ns
                                   ? a->head_ns < b->head_ns
                                   : a->tail_ns >= b->tail_ns;
                int literal = mo_exact_order_literal(
                    &s->model, (a_first ? a : b)->use->task,
                    (a_first ? b : a)->use->task);

                if (!(a->head_ns < b->head_ns + b->length_ns &&
                      b->head_ns < a->head_ns + a->length_ns) ||
                    !is_unassigned(s, literal) ||
                    s->core.activity[literal >> 1] <= most)
                    continue;
                best = literal;
                most = s->core.activity[literal >> 1];
            }
    }
    return best;
}

int mo_exact_next_decision(mo_exact_search *s)
{
    const mo_exact_model *m = &s->model;
    int K = m->x->n_devices, best = -1;
    double most = -1;

    for (int i = 0; i < m->units->n * K; i++)
        if (is_unassigned(s, m->place_literal[i]) &&
            s->core.activity[m->place_literal[i] >> 1] > most) {
            best = i / K;
            most = s->core.activity[m->place_literal[i] >> 1];
        }
    int literal = best < 0
                      ? MO_EXACT_NO_LITERAL
                      : m->place_literal[best * K + choose_device(s, best)];

    return literal != MO_EXACT_NO_LITERAL ? literal : branch_on_order(s);
}
