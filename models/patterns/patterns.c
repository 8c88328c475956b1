/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Set partitioning (Garfinkel and Nemhauser, 1969) by patterns
 * (pattern_set.h): one schedule is chosen for each segment between clean cuts.
 *
 *     p_S_a_b_v   1: segment S runs by variant v of those with its entry op on
 *                 device a and its exit op on b
 *     p_n_0_0_0   1: all n segments run by their parts of the incumbent; q
 * below c_u         end of the cut op u x_i_k, s_i, t_I   as in the other
 * formulations; they follow from p
 *
 *     minimise w
 *
 *     choice    sum_abv p_Sabv + q = 1                    every segment S
 *     boundary  x_ua = sum_bv p_Sabv                      u enters segment S
 *     place     x_ik = sum of the p that have op i on k
 *     finish    c_v = c_u + sum_abv d_Sabv p_Sabv         v is the exit of S
 *     makespan  w >= c_u + sum_abv d_Sabv p_Sabv          of the last segment
 *     begin     s_i = c_u + sum of p times the start of i in it
 *     send      t_I = c_u + sum of p times the start of I in it
 *     memory    sum of p times its bytes on k <= capacity of k
 *
 * d is the length of a pattern.  q occurs in every row as the known pattern of
 * the segment does: solvers find this one column before they solve an LP, where
 * memory keeps them from combining patterns.  Every choice is a schedule, so
 * the optimum is an upper bound: the best of the patterns.  It is that of the
 * instance where the patterns of an optimal schedule are among them.
 *
 * patterns-period has the least period in place of w: a pattern has loads in
 * place of times, and there are neither c nor s nor t.
 *
 *     load      w >= host + sum of p times its load on r  every resource r
 *
 * patterns-lower has the same p, one for each pair of devices, with lower
 * bounds of their lengths, and no x but those of cut ops.  Every schedule is a
 * choice that is no longer, so the optimum is a lower bound.
 */
#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "base/minmax.h"
#include "models/patterns/pattern_model.h"

static int place_column(const mo_pattern_model *m, int op, int device)
{
    return m->place[(size_t) op * (size_t) m->x->n_devices + (size_t) device];
}

/* Adds -c_u, where the segment has an entry op u. */
static void add_begin(const mo_pattern_model *m, mo_sink *sink, int segment)
{
    if (segment > 0)
        mo_sink_term(sink, m->first_c + segment - 1, -1);
}

/* Adds coef * q. */
static void add_whole(const mo_pattern_model *m, mo_sink *sink, double coef)
{
    if (m->whole >= 0)
        mo_sink_term(sink, m->whole, coef);
}

/* Adds -q if the incumbent has op, of that segment, on the device. */
static void add_whole_place(const mo_pattern_model *m, mo_sink *sink,
                            int segment, int op, int device)
{
    const mo_pattern *known = mo_pattern_model_known(m, segment);

    if (known && known->device[op - m->set->first[segment]] == device)
        add_whole(m, sink, -1);
}

static void write_choice_rows(const mo_pattern_model *m, mo_sink *sink)
{
    mo_sink_family(sink, "choice");
    for (int s = 0; s < m->set->n; s++) {
        for (size_t i = m->first_choice[s]; i < m->first_choice[s + 1]; i++)
            mo_sink_term(sink, m->first_p + (int) i, 1);
        add_whole(m, sink, 1);
        mo_sink_row(sink, MO_EQ, 1);
    }
    mo_sink_family(sink, "boundary");
    for (int s = 1; s < m->set->n; s++)
        for (int a = 0; a < m->x->n_devices; a++) {
            int column = place_column(m, mo_pattern_set_entry(m->set, s), a);

            if (column < 0)
                continue;
            mo_sink_term(sink, column, 1);
            for (size_t i = m->first_choice[s]; i < m->first_choice[s + 1]; i++)
                if (m->choices[i].from == a)
                    mo_sink_term(sink, m->first_p + (int) i, -1);
            add_whole_place(m, sink, s - 1, mo_pattern_set_entry(m->set, s), a);
            mo_sink_row(sink, MO_EQ, 0);
        }
}

/* Whether the choice has op of its segment on the device. */
static bool has_on(const mo_pattern_model *m, const mo_pattern_choice *c,
                   int op, int device)
{
    int first = m->set->first[c->segment];

    return c->pattern ? c->pattern->device[op - first] == device
                      : c->to == device;
}

static void write_place_rows(const mo_pattern_model *m, mo_sink *sink)
{
    mo_sink_family(sink, "place");
    for (int s = 0; s < m->set->n; s++)
        for (int op = m->set->first[s]; op < m->set->first[s + 1]; op++)
            for (int k = 0; k < m->x->n_devices; k++) {
                if (place_column(m, op, k) < 0)
                    continue;
                mo_sink_term(sink, place_column(m, op, k), 1);
                for (size_t i = m->first_choice[s]; i < m->first_choice[s + 1];
                     i++)
                    if (has_on(m, &m->choices[i], op, k))
                        mo_sink_term(sink, m->first_p + (int) i, -1);
                add_whole_place(m, sink, s, op, k);
                mo_sink_row(sink, MO_EQ, 0);
            }
}

static void write_length_rows(const mo_pattern_model *m, mo_sink *sink)
{
    for (int s = 0; s < m->set->n; s++) {
        bool is_last = s == m->set->n - 1;

        if (is_last || s == 0)
            mo_sink_family(sink, is_last ? "makespan" : "finish");
        mo_sink_term(sink, is_last ? 0 : m->first_c + s, 1);
        add_begin(m, sink, s);
        for (size_t i = m->first_choice[s]; i < m->first_choice[s + 1]; i++)
            mo_sink_term(sink, m->first_p + (int) i,
                         -mo_pattern_model_units(m, m->choices[i].ns));
        add_whole(m, sink,
                  -mo_pattern_model_units(m, mo_pattern_model_known_ns(m, s)));
        mo_sink_row(sink, is_last ? MO_GE : MO_EQ, 0);
    }
}

static void write_begin_rows(const mo_pattern_model *m, mo_sink *sink)
{
    mo_sink_family(sink, "begin");
    for (int s = 0; s < m->set->n; s++) {
        const mo_pattern *known = mo_pattern_model_known(m, s);
        int first = m->set->first[s];

        for (int op = first; op < m->set->first[s + 1]; op++) {
            mo_sink_term(sink, m->first_s + op, 1);
            add_begin(m, sink, s);
            for (size_t i = m->first_choice[s]; i < m->first_choice[s + 1]; i++)
                mo_sink_term(
                    sink, m->first_p + (int) i,
                    -mo_pattern_model_units(
                        m, m->choices[i].pattern->start_ns[op - first]));
            if (known)
                add_whole(
                    m, sink,
                    -mo_pattern_model_units(m, known->start_ns[op - first]));
            mo_sink_row(sink, MO_EQ, 0);
        }
    }
    mo_sink_family(sink, "send");
    for (size_t t = 0; t < m->n_sends; t++) {
        int s = m->sends[t].segment;
        int64_t known_send_ns = mo_pattern_model_send_ns(
            m, mo_pattern_model_known(m, s), m->sends[t].number);

        mo_sink_term(sink, m->first_t + (int) t, 1);
        add_begin(m, sink, s);
        for (size_t i = m->first_choice[s]; i < m->first_choice[s + 1]; i++) {
            int64_t ns = mo_pattern_model_send_ns(m, m->choices[i].pattern,
                                                  m->sends[t].number);

            if (ns > 0)
                mo_sink_term(sink, m->first_p + (int) i,
                             -mo_pattern_model_units(m, ns));
        }
        if (known_send_ns > 0)
            add_whole(m, sink, -mo_pattern_model_units(m, known_send_ns));
        mo_sink_row(sink, MO_EQ, 0);
    }
}

static int64_t pattern_bytes(const mo_pattern_model *m, const mo_pattern *p,
                             int segment, int device)
{
    int first = m->set->first[segment];
    int64_t bytes = 0;

    for (int i = first; i < m->set->first[segment + 1]; i++)
        if (p->device[i - first] == device)
            bytes += m->x->memory_bytes[i];
    return bytes;
}

/* Over p, not x: presolve then removes all columns but p. */
static void write_memory_rows(const mo_pattern_model *m, mo_sink *sink)
{
    const mo_instance *x = m->x;
    size_t n = m->n_choices;
    int64_t all = 0;

    if (m->frame->regime.memory == MO_MEMORY_NONE)
        return;
    for (int i = 0; i < x->n; i++)
        all = all < INT64_MAX - x->memory_bytes[i] ? all + x->memory_bytes[i]
                                                   : INT64_MAX;
    mo_sink_family(sink, "memory");
    for (int k = 0; k < x->n_devices; k++) {
        mo_memory_scale scale;

        if (all <= x->capacity_bytes[k])
            continue;
        m->bytes[n] = 0;
        for (size_t i = 0; i < n; i++) {
            const mo_pattern_choice *c = &m->choices[i];

            m->bytes[i] = pattern_bytes(m, c->pattern, c->segment, k);
            if (c->pattern->is_known && m->whole >= 0)
                m->bytes[n] += m->bytes[i];
            /* Far over the capacity excludes no more than a little over it. */
            if (m->bytes[i] / 2 > x->capacity_bytes[k])
                m->bytes[i] = 2 * x->capacity_bytes[k] + 1;
        }
        scale =
            mo_memory_scale_for(m->bytes, (int) n + 1, x->capacity_bytes[k]);
        for (size_t i = 0; i < n; i++)
            mo_sink_term(sink, m->first_p + (int) i,
                         mo_memory_scale_size(&scale, m->bytes[i]));
        add_whole(m, sink, mo_memory_scale_size(&scale, m->bytes[n]));
        mo_sink_row(sink, MO_LE,
                    mo_memory_scale_size(&scale, x->capacity_bytes[k]));
    }
}

/* The largest load of devices, ports and the host. */
static void write_load_rows(const mo_pattern_model *m, mo_sink *sink)
{
    mo_sink_family(sink, "load");
    for (int r = 0; r < m->set->n_loads; r++) {
        int64_t known_ns = 0;

        mo_sink_term(sink, 0, 1);
        for (size_t i = 0; i < m->n_choices; i++) {
            const mo_pattern *p = m->choices[i].pattern;

            if (p->load_ns[r] > 0)
                mo_sink_term(sink, m->first_p + (int) i,
                             -mo_pattern_model_units(m, p->load_ns[r]));
            known_ns += p->is_known ? p->load_ns[r] : 0;
        }
        if (known_ns > 0)
            add_whole(m, sink, -mo_pattern_model_units(m, known_ns));
        mo_sink_row(sink, MO_GE, mo_pattern_model_units(m, m->set->base_ns[r]));
    }
}

static void write_rows(void *state, mo_sink *sink)
{
    const mo_pattern_model *m = state;

    if (mo_sink_failed(sink))
        return; /* not all columns are there */
    write_choice_rows(m, sink);
    write_place_rows(m, sink);
    if (m->side == MO_PATTERNS_PERIOD)
        write_load_rows(m, sink);
    else
        write_length_rows(m, sink);
    if (m->side == MO_PATTERNS_UPPER)
        write_begin_rows(m, sink);
    if (m->side != MO_PATTERNS_LOWER)
        write_memory_rows(m, sink);
}

static int count_transfers(const void *state)
{
    return (int) ((const mo_pattern_model *) state)->n_sends;
}

static int get_transfer(const void *state, int i)
{
    return ((const mo_pattern_model *) state)->sends[i].number;
}

static mo_status prepare_upper(const mo_frame *frame, void **state,
                               mo_error *err)
{
    return mo_pattern_model_new(frame, MO_PATTERNS_UPPER, state, err);
}

static mo_status prepare_lower(const mo_frame *frame, void **state,
                               mo_error *err)
{
    return mo_pattern_model_new(frame, MO_PATTERNS_LOWER, state, err);
}

static mo_status prepare_period(const mo_frame *frame, void **state,
                                mo_error *err)
{
    return mo_pattern_model_new(frame, MO_PATTERNS_PERIOD, state, err);
}

/* What the formulations have in common. */
/* clang-format off */
#define OF_PATTERNS                                                            \
    .has_tensors_once = true,                                                  \
    .has_regime = true,                                                        \
    .columns = mo_pattern_model_columns,                                       \
    .rows = write_rows,                                                        \
    .release = mo_pattern_model_free,                                          \
    .has_start = mo_pattern_model_has_start,                                   \
    .n_transfers = count_transfers,                                            \
    .transfer = get_transfer
/* clang-format on */

const mo_formulation mo_formulation_patterns = {
    .name = "patterns",
    .help = "a choice of schedules of segments",
    .optimum = "the best of its patterns, an upper bound",
    .prepare = prepare_upper,
    OF_PATTERNS
};

const mo_formulation mo_formulation_patterns_lower = {
    .name = "patterns-lower",
    .help = "the same with lower bounds",
    .optimum = "a lower bound, no placement",
    .lacks_places = true,
    .prepare = prepare_lower,
    OF_PATTERNS
};

const mo_formulation mo_formulation_patterns_period = {
    .name = "patterns-period",
    .help = "a choice of placements of segments, largest load",
    .optimum = "the best of its patterns, an upper bound",
    .is_period = true,
    .prepare = prepare_period,
    OF_PATTERNS
};
