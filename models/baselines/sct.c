/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The linear program of m-SCT (Baechi; after Hanen and Munier's SCT), which
 * chooses for every op the reader that should follow it on its device, its
 * favourite child.
 *
 *     minimize w
 *     s_i + p_i + c_q f_q <= s_j    q = (i, j)        precedence
 *     s_i + p_i <= w                i has no readers  makespan
 *     sum of f_q >= out(i) - 1      flows q of i      child
 *     sum of f_q >= in(j) - 1       flows q to j      parent
 *     0 <= f_q <= 1
 *
 * f_q = 0: j is the favourite child of i and waits for no transfer.  In print f
 * is called x and devices are equal; here p_i is the mean over the devices and
 * c_q the mean over the ordered pairs of them, both to the nanosecond.  A
 * tensor is a flow to each of its readers.  A solver's f is rounded where it is
 * used.
 *
 * The schedule of an instance need not be as long as with mean times, so times
 * have no upper bound here, and the start is the earliest times with every f 1.
 */
#include <math.h>
#include <stdlib.h>

#include "models/formulation.h"
#include "models/sink/scale.h"

typedef struct sct {
    const mo_frame *frame;
    const mo_instance *x;
    int64_t *p_ns, *c_ns, *early_ns; /* means by op, by flow; starts by op */
    int start, favorite;             /* columns of s_0, f_0 */
} sct;

static void release_sct(void *state)
{
    sct *m = state;

    if (!m)
        return;
    free(m->p_ns);
    free(m->c_ns);
    free(m->early_ns);
    free(m);
}

static int64_t divide_nearest(int64_t sum, int64_t by)
{
    return (sum + by / 2) / by;
}

static mo_status find_flow_means(sct *m, mo_error *err)
{
    const mo_instance *x = m->x;
    int64_t *pairs = calloc((size_t) x->comm.n_kinds + 1, sizeof *pairs);
    int64_t *write_rows =
        calloc((size_t) x->comm.n_rows + 1, sizeof *write_rows);

    if (pairs && write_rows) {
        /* Counts the ordered pairs of different devices of each kind of
         * transfer times. */
        for (int a = 0; a < x->n_devices; a++)
            for (int b = 0; b < x->n_devices; b++)
                if (a != b)
                    pairs[x->comm.pair_kind[a * x->n_devices + b]]++;
        for (int r = 0; r < x->comm.n_rows; r++) {
            int64_t n = (int64_t) x->n_devices * (x->n_devices - 1);
            int64_t quotients = 0, remainders = 0;

            if (n == 0) {
                write_rows[r] = 0;
            } else {
                for (int kind = 0; kind < x->comm.n_kinds; kind++) {
                    int64_t ns = x->comm.ns[r * x->comm.n_kinds + kind];

                    quotients += ns / n * pairs[kind];
                    remainders += ns % n * pairs[kind];
                }
                write_rows[r] = quotients + divide_nearest(remainders, n);
            }
        }
        for (int q = 0; q < x->n_flows; q++)
            m->c_ns[q] = write_rows[x->comm.flow_row[q]];
    }
    free(pairs);
    free(write_rows);
    return pairs && write_rows ? MO_OK : mo_fail_memory(err);
}

/* Upper limit of a coefficient in units. */
enum { MAX_UNITS = 1000000 };

static int64_t clip_time(const sct *m, int64_t ns)
{
    int64_t unit_ns = m->frame->unit_ns;

    if (ns / unit_ns >= MAX_UNITS)
        return MAX_UNITS * unit_ns;
    return mo_scale_rounded_ns(mo_scale_step_ns(unit_ns), ns);
}

static mo_status compute_means(sct *m, mo_error *err)
{
    size_t n = (size_t) m->x->n, n_flows = (size_t) m->x->n_flows;
    mo_status status;

    m->p_ns = calloc(n + 1, sizeof *m->p_ns);
    m->c_ns = calloc(n_flows + 1, sizeof *m->c_ns);
    m->early_ns = calloc(n + 1, sizeof *m->early_ns);
    if (!m->p_ns || !m->c_ns || !m->early_ns)
        return mo_fail_memory(err);
    status = find_flow_means(m, err);
    if (status != MO_OK)
        return status;
    /* Times are at most 1e14 ns, so a sum of 90,000 of them does not overflow.
     */
    for (int i = 0; i < m->x->n; i++) {
        int64_t sum_ns = 0;

        for (int k = 0; k < m->x->n_devices; k++)
            sum_ns += mo_instance_p_ns(m->x, i, k);
        m->p_ns[i] = clip_time(m, divide_nearest(sum_ns, m->x->n_devices));
    }
    for (int q = 0; q < m->x->n_flows; q++)
        m->c_ns[q] = clip_time(m, m->c_ns[q]);
    /* Ids are topological: the producers of an op have their starts already. */
    for (int i = 0; i < m->x->n; i++)
        for (int q = m->x->out_start[i]; q < m->x->out_start[i + 1]; q++) {
            int64_t there_ns = m->early_ns[i] + m->p_ns[i] + m->c_ns[q];
            int64_t *early_ns = &m->early_ns[m->x->flows[q].to];

            if (*early_ns < there_ns)
                *early_ns = there_ns;
        }
    return MO_OK;
}

static mo_status prepare_sct(const mo_frame *frame, void **state, mo_error *err)
{
    sct *m = calloc(1, sizeof *m);
    mo_status status;

    if (!m)
        return mo_fail_memory(err);
    m->frame = frame;
    m->x = frame->x;
    status = compute_means(m, err);
    if (status != MO_OK) {
        release_sct(m);
        return status;
    }
    *state = m;
    return MO_OK;
}

static double to_units(const sct *m, int64_t ns)
{
    return mo_scale_time(m->frame->unit_ns, ns);
}

static void declare_variable(mo_sink *sink, mo_variable_role role, int number,
                             double upper, double value)
{
    mo_sink_column(sink, &(mo_variable){ .role = role,
                                         .number = { number },
                                         .kind = MO_VARIABLE_CONTINUOUS,
                                         .upper = upper,
                                         .value = value });
}

static void declare_columns(void *state, mo_sink *sink)
{
    sct *m = state;
    int64_t end_ns = 0;

    for (int i = 0; i < m->x->n; i++)
        if (end_ns < m->early_ns[i] + m->p_ns[i])
            end_ns = m->early_ns[i] + m->p_ns[i];
    declare_variable(sink, MO_VARIABLE_ROLE_MAKESPAN, 0, INFINITY,
                     to_units(m, end_ns));
    m->start = sink->n_columns;
    for (int i = 0; i < m->x->n; i++)
        declare_variable(sink, MO_VARIABLE_ROLE_START, i, INFINITY,
                         to_units(m, m->early_ns[i]));
    m->favorite = sink->n_columns;
    for (int q = 0; q < m->x->n_flows; q++)
        declare_variable(sink, MO_VARIABLE_ROLE_FAVORITE, q, 1, 1);
}

/* Of the flows of an op, or to it, all but one; a row over one flow is
 * redundant, but f_q must be in some row. */
static int all_but_one(const int *start, int op)
{
    int n = start[op + 1] - start[op];

    return n > 0 ? n - 1 : 0;
}

static void write_rows(void *state, mo_sink *sink)
{
    const sct *m = state;

    if (mo_sink_failed(sink))
        return; /* not all columns are there */
    mo_sink_family(sink, "precedence");
    for (int q = 0; q < m->x->n_flows; q++) {
        const mo_flow *flow = &m->x->flows[q];

        mo_sink_term(sink, m->start + flow->to, 1);
        mo_sink_term(sink, m->start + flow->from, -1);
        mo_sink_term(sink, m->favorite + q, -to_units(m, m->c_ns[q]));
        mo_sink_row(sink, MO_GE, to_units(m, m->p_ns[flow->from]));
    }
    mo_sink_family(sink, "makespan");
    for (int i = 0; i < m->x->n; i++)
        if (m->x->out_start[i] == m->x->out_start[i + 1]) {
            mo_sink_term(sink, 0, 1);
            mo_sink_term(sink, m->start + i, -1);
            mo_sink_row(sink, MO_GE, to_units(m, m->p_ns[i]));
        }
    /* An op has at most one favourite child, and is that of at most one op. */
    const mo_instance *x = m->x;

    mo_sink_family(sink, "child");
    for (int i = 0; i < x->n; i++) {
        for (int q = x->out_start[i]; q < x->out_start[i + 1]; q++)
            mo_sink_term(sink, m->favorite + q, 1);
        mo_sink_row(sink, MO_GE, all_but_one(x->out_start, i));
    }
    mo_sink_family(sink, "parent");
    for (int j = 0; j < x->n; j++) {
        for (int at = x->in_start[j]; at < x->in_start[j + 1]; at++)
            mo_sink_term(sink, m->favorite + x->in_flows[at], 1);
        mo_sink_row(sink, MO_GE, all_but_one(x->in_start, j));
    }
}

/* The start of its own: see above. */
static bool has_start(const void *state)
{
    (void) state;
    return true;
}

const mo_formulation mo_formulation_sct = {
    .name = "sct",
    .help = "m-SCT's linear program: favourite children",
    .has_tensors_once = false,
    .lacks_places = true,
    .has_regime = false,
    .prepare = prepare_sct,
    .columns = declare_columns,
    .rows = write_rows,
    .release = release_sct,
    .has_start = has_start,
};
