/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The incumbent, the best schedule found before the model is built, as one
 * binary column k that covers all ops, as a column of a set partitioning
 * problem does: with k = 1 no op is placed by the rest of the model, whose rows
 * then hold with all other integers at 0, and the makespan is that of the
 * incumbent.  Solvers find this solution before they solve an LP, without a MIP
 * start.  D_i: the device of op i in the incumbent; S_i, T_I: its starts of ops
 * and transfers; U: its makespan; L: the lower bound of w.
 *
 *     assign   v_i_D + sum_{d != D} x_i_d + k = 1   (assignment.c), D = D_i
 *     known    w - (U - L) k >= L
 *              x_i_D = v_i_D + k
 *              b_i = S_i k,  q_I = T_I k
 *
 * In all other rows v stands for x at the device of the incumbent; x is 1 where
 * the op is, whether by k or not.  A model for further rows (slack) has no k:
 * these rows may exclude the incumbent.
 */
#include <assert.h>

#include "models/compact/compact.h"

/* Whether the model has a column for the start of this transfer. */
static bool has_time(const mo_compact *c, int item)
{
    return c->send[item] >= 0;
}

int64_t mo_compact_incumbent_count(const mo_compact *c)
{
    int64_t n = 1 + 2 * (int64_t) c->x->n;

    for (int i = 0; i < c->items->n; i++)
        n += has_time(c, i);
    return n;
}

/* A continuous column that a row below derives from k. */
static void declare_derived(mo_sink *sink, mo_variable_role role, int a, int b,
                            double upper, double value)
{
    mo_variable column = { .role = role,
                           .number = { a, b },
                           .kind = MO_VARIABLE_CONTINUOUS,
                           .lower = 0,
                           .upper = upper,
                           .value = value };

    mo_sink_column(sink, &column);
}

void mo_compact_incumbent_columns(const mo_compact *c, mo_sink *sink)
{
    double horizon = mo_compact_time(c, c->frame->horizon_ns);
    mo_variable k = { .role = MO_VARIABLE_ROLE_INCUMBENT,
                      .kind = MO_VARIABLE_BINARY,
                      .lower = 0,
                      .upper = 1 };
    int id;

    if (c->incumbent < 0)
        return;
    id = mo_sink_column(sink, &k);
    assert(id == c->incumbent || mo_sink_failed(sink));
    (void) id;
    for (int i = 0; i < c->x->n; i++)
        declare_derived(sink, MO_VARIABLE_ROLE_PLACE, i,
                        c->frame->start->device[i], 1, 1);
    for (int i = 0; i < c->x->n; i++)
        declare_derived(sink, MO_VARIABLE_ROLE_INCUMBENT_START, i, 0, horizon,
                        0);
    for (int i = 0; i < c->items->n; i++)
        if (has_time(c, i))
            declare_derived(sink, MO_VARIABLE_ROLE_INCUMBENT_SEND,
                            c->items->items[i].name, 0, horizon, 0);
}

/* column = time * k */
static void time_row(const mo_compact *c, int column, int64_t ns, mo_sink *sink)
{
    mo_sink_term(sink, column, 1);
    mo_sink_term(sink, c->incumbent, -mo_compact_time(c, ns));
    mo_sink_row(sink, MO_EQ, 0);
}

void mo_compact_incumbent_rows(const mo_compact *c, mo_sink *sink)
{
    const mo_schedule *s = c->frame->start;
    int64_t lower_ns;
    int column = c->incumbent + 1;

    if (c->incumbent < 0)
        return;
    lower_ns = mo_compact_makespan_lower(c);
    mo_sink_family(sink, "known");
    mo_sink_term(sink, 0, 1);
    mo_sink_term(sink, c->incumbent,
                 mo_compact_time(c, lower_ns) -
                     mo_compact_time(c, s->makespan_ns));
    mo_sink_row(sink, MO_GE, mo_compact_time(c, lower_ns));
    for (int i = 0; i < c->x->n; i++) {
        mo_sink_term(sink, column++, 1);
        mo_sink_term(sink, mo_compact_place_column(c, i, s->device[i]), -1);
        mo_sink_term(sink, c->incumbent, -1);
        mo_sink_row(sink, MO_EQ, 0);
    }
    for (int i = 0; i < c->x->n; i++)
        time_row(c, column++, s->start_ns[i], sink);
    for (int i = 0; i < c->items->n; i++)
        if (has_time(c, i))
            time_row(c, column++, c->start[i].start_ns, sink);
}
