/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The assignment problem of GETF (Su, Ren, Vardi, Wierman: Communication-
 * aware scheduling of precedence-constrained tasks on related machines).
 *
 *     minimize w
 *     sum_k x_ik = 1                              assignment
 *     C_i >= sum_k p_ik x_ik         no reads     chain
 *     C_j >= C_i + sum_k p_jk x_jk   i -> j
 *     C_i <= w                       no readers   makespan
 *     sum_i p_ik x_ik <= w           for all k    load
 *
 * It has no orders, no communication and no memory: its optimum is a lower
 * bound, and its (relaxed) x is the fraction of an op on each speed.
 * In print p_ik is p_i / s_k; here devices may be unequal in other ways too,
 * and the true p_ik are used.
 *
 * The rest of GETF is not in this model but in the search that reads its
 * solution (solvers/search/baselines): it groups the devices whose speeds are
 * within a factor of gamma, rounds each op to the group that takes at least
 * half of it from there up, and starts ops as early as it can within their
 * groups.
 *
 * Pins and groups are kept (pin, group).
 */
#include <stdlib.h>

#include "models/formulation.h"
#include "models/paper/placement_block.h"
#include "models/sink/scale.h"

typedef struct getf {
    const mo_frame *frame;
    mo_placement_block on;
    int completion; /* column of C_0 */
} getf;

static void release_getf(void *state)
{
    getf *m = state;

    if (m)
        mo_placement_block_clear(&m->on);
    free(m);
}

static mo_status prepare_getf(const mo_frame *frame, void **state,
                              mo_error *err)
{
    getf *m = calloc(1, sizeof *m);
    mo_status status;

    if (!m)
        return mo_fail_memory(err);
    m->frame = frame;
    status = mo_placement_block_init(&m->on, frame->x, NULL,
                                     frame->x->n_devices, err);
    if (status != MO_OK) {
        release_getf(m);
        return status;
    }
    *state = m;
    return MO_OK;
}

/* In units, clipped to twice the horizon: beyond it is infeasible all the
 * same. */
static double to_units(const getf *m, int64_t ns)
{
    int64_t most_ns = 2 * m->frame->horizon_ns;

    return mo_scale_time(m->frame->unit_ns, ns < most_ns ? ns : most_ns);
}

static void declare_time(const getf *m, mo_sink *sink, mo_variable_role role,
                         int number, int64_t value_ns)
{
    mo_sink_column(sink,
                   &(mo_variable){ .role = role,
                                   .number = { number },
                                   .upper = to_units(m, m->frame->horizon_ns),
                                   .value = to_units(m, value_ns) });
}

static void declare_columns(void *state, mo_sink *sink)
{
    getf *m = state;
    const mo_schedule *start = m->frame->start;

    declare_time(m, sink, MO_VARIABLE_ROLE_MAKESPAN, 0,
                 start ? start->makespan_ns : 0);
    mo_placement_block_columns(&m->on, start, sink);
    m->completion = sink->n_columns;
    for (int i = 0; i < m->frame->x->n; i++)
        declare_time(
            m, sink, MO_VARIABLE_ROLE_COMPLETE, i,
            start ? start->start_ns[i] +
                        mo_instance_p_ns(m->frame->x, i, start->device[i])
                  : 0);
}

/* C_op - sum p x, and if it has a producer, - C of that, >= 0 */
static void write_chain_row(const getf *m, mo_sink *sink, int op, int reads)
{
    mo_sink_term(sink, m->completion + op, 1);
    if (reads >= 0)
        mo_sink_term(sink, m->completion + reads, -1);
    for (int k = 0; k < m->on.n_slots; k++)
        mo_sink_term(sink, mo_placement_block_column(&m->on, op, k),
                     -to_units(m, mo_instance_p_ns(m->frame->x, op, k)));
    mo_sink_row(sink, MO_GE, 0);
}

static void write_rows(void *state, mo_sink *sink)
{
    const getf *m = state;
    const mo_instance *x = m->frame->x;

    if (mo_sink_failed(sink))
        return; /* not all columns are there */
    mo_placement_block_rows(&m->on, sink);
    mo_sink_family(sink, "chain");
    for (int i = 0; i < x->n; i++) {
        int last = -1;

        /* Flows are sorted by producer, so the flows from one op to another are
         * consecutive. */
        for (int at = x->in_start[i]; at < x->in_start[i + 1]; at++) {
            int from = x->flows[x->in_flows[at]].from;

            if (from != last)
                write_chain_row(m, sink, i, from);
            last = from;
        }
        if (last < 0)
            write_chain_row(m, sink, i, -1);
    }
    mo_sink_family(sink, "makespan");
    for (int i = 0; i < x->n; i++)
        if (x->out_start[i] == x->out_start[i + 1]) {
            mo_sink_term(sink, 0, 1);
            mo_sink_term(sink, m->completion + i, -1);
            mo_sink_row(sink, MO_GE, 0);
        }
    mo_sink_family(sink, "load");
    for (int k = 0; k < m->on.n_slots; k++) {
        mo_sink_term(sink, 0, 1);
        for (int i = 0; i < m->frame->x->n; i++)
            mo_sink_term(sink, mo_placement_block_column(&m->on, i, k),
                         -to_units(m, mo_instance_p_ns(m->frame->x, i, k)));
        mo_sink_row(sink, MO_GE, 0);
    }
}

const mo_formulation mo_formulation_getf = {
    .name = "getf",
    .help = "GETF's assignment: chains and loads, no communication",
    .has_tensors_once = false,
    .has_regime = false,
    .prepare = prepare_getf,
    .columns = declare_columns,
    .rows = write_rows,
    .release = release_getf,
};
