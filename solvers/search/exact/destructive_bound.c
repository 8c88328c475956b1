/* SPDX-License-Identifier: Apache-2.0 */
#include "solvers/search/exact/destructive_bound.h"

enum {
    FIRST_PATIENCE = 100, /* conflicts */
    MAX_SHIFT = 12,       /* parts of the gap are 1/2, ..., 1/4096 */
    ROOT_STEPS = 10       /* of halving, before the search */
};

static void ask_for(mo_exact_search *s, int64_t time_ns)
{
    s->tight = 2 * mo_exact_core_new_variable(&s->core);
    s->tight_ns = time_ns;
}

bool mo_exact_destructive_refuted(mo_exact_search *s)
{
    const mo_exact_core *c = &s->core;

    if (s->tight == MO_EXACT_NO_LITERAL || c->truth[s->tight] >= 0 ||
        c->trail[c->entry_of[s->tight >> 1]].level > 0)
        return false;
    if (s->lower_ns <= s->tight_ns)
        s->lower_ns = s->tight_ns + 1;
    s->tight = MO_EXACT_NO_LITERAL;
    return true;
}

bool mo_exact_destructive_root(mo_exact_search *s)
{
    int64_t open_ns = s->horizon_ns;

    for (int i = 0; i < ROOT_STEPS && s->lower_ns < open_ns && !s->is_stopped;
         i++) {
        int64_t time_ns = s->lower_ns + (open_ns - s->lower_ns) / 2;

        ask_for(s, time_ns);
        mo_exact_core_decide(&s->core, s->tight);
        if (mo_exact_propagate(s)) {
            mo_exact_core_backtrack(&s->core, 0);
            open_ns = time_ns;
        } else if (!mo_exact_core_analyze_conflict(&s->core) ||
                   !mo_exact_propagate(s)) {
            return false;
        }
        mo_exact_destructive_refuted(s);
    }
    s->tight = MO_EXACT_NO_LITERAL;
    return true;
}

void mo_exact_destructive_next(mo_exact_search *s, int64_t conflicts)
{
    mo_exact_destructive_bound *a = &s->asking;
    int64_t gap_ns = s->horizon_ns + 1 - s->lower_ns;

    if (mo_exact_destructive_refuted(s)) {
        a->shift -= a->shift > 1;
    } else if (conflicts < a->until) {
        return;
    } else if (s->tight != MO_EXACT_NO_LITERAL) {
        /* No answer: something smaller, and longer, but not at once. */
        s->tight = MO_EXACT_NO_LITERAL;
        a->until = conflicts + a->patience;
        a->shift += a->shift < MAX_SHIFT;
        a->patience += a->patience / 2;
        return;
    }
    if (a->patience == 0) {
        a->patience = FIRST_PATIENCE;
        a->shift = 1;
    }
    a->until = conflicts + a->patience;
    ask_for(s, s->lower_ns + (gap_ns >> a->shift));
}
