/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What to decide next: devices first, where conflicts were most; then, of two
 * that are in each other's way, who goes first.
 */
#include "solvers/search/exact/exact_internal.h"

static bool is_open(const mo_exact_search *s, int literal)
{
    return literal != MO_EXACT_NO_LITERAL && s->core.truth[literal] == 0;
}

/* Where its first op loses the least time; but where the best schedule has it,
 * as long as nothing much better is asked for. */
static int best_place(const mo_exact_search *s, int unit)
{
    const mo_exact_model *m = &s->model;
    int first = m->units->ops[m->units->start[unit]];
    bool asks = mo_exact_limit_ns(s) < s->horizon_ns;
    int K = m->x->n_devices, best = -1;
    int64_t least = INT64_MAX;

    for (int k = 0; k < K; k++) {
        int mode = m->op_mode[first * K + k];
        int64_t ns;

        if (!is_open(s, m->place[unit * K + k]))
            continue;
        if (!asks && s->device[first] == k)
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

static int branch_on_place(const mo_exact_search *s)
{
    const mo_exact_model *m = &s->model;
    int K = m->x->n_devices, best = -1;
    double most = -1;

    for (int i = 0; i < m->units->n * K; i++)
        if (is_open(s, m->place[i]) &&
            s->core.activity[m->place[i] >> 1] > most) {
            best = i / K;
            most = s->core.activity[m->place[i] >> 1];
        }
    return best < 0 ? MO_EXACT_NO_LITERAL
                    : m->place[best * K + best_place(s, best)];
}

static bool overlap(const mo_exact_use_state *a, const mo_exact_use_state *b)
{
    return a->head_ns < b->head_ns + b->length_ns &&
           b->head_ns < a->head_ns + a->length_ns;
}

/* Who can start first goes first. */
static int order_of(const mo_exact_search *s, const mo_exact_use_state *a,
                    const mo_exact_use_state *b)
{
    bool a_first = a->head_ns != b->head_ns ? a->head_ns < b->head_ns
                                            : a->tail_ns >= b->tail_ns;

    return mo_exact_order_literal(&s->model, (a_first ? a : b)->use->task,
                                  (a_first ? b : a)->use->task);
}

static int branch_on_order(mo_exact_search *s)
{
    int best = MO_EXACT_NO_LITERAL;
    double most = -1;

    for (int r = 0; r < s->model.n_resources; r++) {
        mo_exact_collect_uses(s, r);
        for (int i = 0; i < s->n_standing; i++)
            for (int j = i + 1; j < s->n_standing; j++) {
                const mo_exact_use_state *a = &s->standing[i],
                                         *b = &s->standing[j];
                int literal = order_of(s, a, b);

                if (!overlap(a, b) || !is_open(s, literal) ||
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
    int literal = branch_on_place(s);

    return literal != MO_EXACT_NO_LITERAL ? literal : branch_on_order(s);
}
