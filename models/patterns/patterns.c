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
 * patterns-lower has the same p, one for each pair of devices, with lower
 * bounds of their lengths, and no x but those of cut ops.  Every schedule is a
 * choice that is no longer, so the optimum is a lower bound.
 */
#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "base/array.h"
#include "models/formulation.h"
#include "models/patterns/pattern_set.h"
#include "models/sink/scale.h"
#include "models/transfer_number.h"

/* A column p. */
typedef struct choice {
    int segment, from, to, variant;
    int64_t ns;
    const mo_pattern *pattern; /* NULL: a lower bound */
} choice;

/* A column t. */
typedef struct send {
    int segment, number; /* models/transfer_number.h */
} send;

typedef struct patterns {
    const mo_frame *frame;
    const mo_pattern_set *set;
    const mo_instance *x;
    bool lower;
    choice *choices; /* by segment */
    size_t n_choices, room;
    size_t *first_choice; /* by segment, and the end */
    send *sends;          /* by segment, then number */
    size_t n_sends, sends_room;
    bool *used;     /* by op and device: there is a column x */
    int64_t *bytes; /* scratch, by p and q: memory on a device */

    /* Columns. */
    int first_p, first_c, first_s, first_t;
    int whole;  /* q; -1: none */
    int *place; /* by op and device, or -1 */
} patterns;

static void release_patterns(void *state)
{
    patterns *m = state;

    if (!m)
        return;
    free(m->bytes);
    free(m->choices);
    free(m->first_choice);
    free(m->sends);
    free(m->used);
    free(m->place);
    free(m);
}

static double to_units(const patterns *m, int64_t ns)
{
    return mo_scale_time(m->frame->unit_ns, ns);
}

static size_t cell(const patterns *m, int op, int device)
{
    return (size_t) op * (size_t) m->x->n_devices + (size_t) device;
}

static mo_status add_choice(patterns *m, const choice *c, mo_error *err)
{
    mo_status status = MO_ARRAY_GROW(m->choices, m->n_choices, m->room, err);

    if (status == MO_OK)
        m->choices[m->n_choices++] = *c;
    return status;
}

static mo_status list_patterns(patterns *m, int segment, mo_error *err)
{
    const mo_pattern_segment *s = &m->set->segments[segment];
    mo_status status = MO_OK;

    for (size_t i = 0; i < s->n && status == MO_OK; i++) {
        const mo_pattern *p = &s->patterns[i];

        status = add_choice(
            m, &(choice){ segment, p->from, p->to, p->variant, p->ns, p }, err);
    }
    return status;
}

/* One for each pair of devices. */
static mo_status list_bounds(patterns *m, int segment, mo_error *err)
{
    const int64_t *lower_ns = m->set->segments[segment].lower_ns;
    int K = m->x->n_devices;
    int n_from = mo_pattern_set_entry(m->set, segment) == MO_FREE ? 1 : K;
    int n_to = mo_pattern_set_exit(m->set, segment) == MO_FREE ? 1 : K;
    mo_status status = MO_OK;

    for (int a = 0; a < n_from; a++)
        for (int b = 0; b < n_to && status == MO_OK; b++) {
            int64_t ns = lower_ns ? lower_ns[a * K + b] : 0;

            if (ns < MO_MAX_TOTAL_NS)
                status =
                    add_choice(m, &(choice){ segment, a, b, 0, ns, NULL }, err);
        }
    return status;
}

/* Transfers in flight do not matter where none excludes another. */
static bool has_sends(const patterns *m)
{
    return !m->lower && m->frame->regime.congestion != MO_CONGESTION_NONE;
}

/* The number of a transfer in names. */
static int send_number(const patterns *m, const mo_transfer *t)
{
    const mo_instance *x = m->x;
    bool alone = !mo_transfer_is_tensor(&m->frame->regime) ||
                 x->tensor_start[t->item + 1] - x->tensor_start[t->item] == 1;

    return mo_transfer_number(x, &m->frame->regime, t->item,
                              alone ? MO_FREE : t->to);
}

static int compare_sends(const void *a, const void *b)
{
    const send *s = a, *t = b;

    return (s->number > t->number) - (s->number < t->number);
}

/* Lists the transfers of all patterns of a segment, each once. */
static mo_status list_sends(patterns *m, int segment, mo_error *err)
{
    const mo_pattern_segment *s = &m->set->segments[segment];
    size_t first = m->n_sends, kept = first;

    for (size_t i = 0; i < s->n; i++)
        for (int j = 0; j < s->patterns[i].n_transfers; j++) {
            mo_status status =
                MO_ARRAY_GROW(m->sends, m->n_sends, m->sends_room, err);

            if (status != MO_OK)
                return status;
            m->sends[m->n_sends++] =
                (send){ segment, send_number(m, &s->patterns[i].transfers[j]) };
        }
    if (m->n_sends > first)
        qsort(m->sends + first, m->n_sends - first, sizeof *m->sends,
              compare_sends);
    for (size_t i = first; i < m->n_sends; i++)
        if (kept == first || m->sends[i].number != m->sends[kept - 1].number)
            m->sends[kept++] = m->sends[i];
    m->n_sends = kept;
    return MO_OK;
}

/* Marks the columns x of a choice. */
static void mark_places(patterns *m, const choice *c)
{
    int first = m->set->first[c->segment],
        entry = mo_pattern_set_entry(m->set, c->segment),
        exit = mo_pattern_set_exit(m->set, c->segment);

    if (entry != MO_FREE)
        m->used[cell(m, entry, c->from)] = true;
    if (exit != MO_FREE)
        m->used[cell(m, exit, c->to)] = true;
    for (int i = first; i < m->set->first[c->segment + 1] && c->pattern; i++)
        m->used[cell(m, i, c->pattern->device[i - first])] = true;
}

static mo_status list_columns(patterns *m, mo_error *err)
{
    size_t n = (size_t) m->set->n,
           cells = (size_t) m->x->n * (size_t) m->x->n_devices;
    mo_status status = MO_OK;

    m->first_choice = calloc(n + 1, sizeof *m->first_choice);
    m->used = calloc(cells + 1, sizeof *m->used);
    m->place = calloc(cells + 1, sizeof *m->place);
    if (!m->first_choice || !m->used || !m->place)
        return mo_fail_memory(err);
    for (int i = 0; i < m->set->n && status == MO_OK; i++) {
        m->first_choice[i] = m->n_choices;
        status = m->lower ? list_bounds(m, i, err) : list_patterns(m, i, err);
        if (status == MO_OK && has_sends(m))
            status = list_sends(m, i, err);
    }
    m->first_choice[n] = m->n_choices;
    for (size_t i = 0; i < m->n_choices; i++)
        mark_places(m, &m->choices[i]);
    return status;
}

static mo_status prepare(const mo_frame *frame, bool lower, void **state,
                         mo_error *err)
{
    patterns *m;
    mo_status status;

    if (frame->regime.memory == MO_MEMORY_LIVE)
        return mo_fail(err, MO_E_USAGE,
                       "--formulation patterns counts the memory of all ops "
                       "of a device; take --memory static or none");
    if (!frame->patterns || frame->patterns->n == 0)
        return mo_fail(err, MO_E_USAGE,
                       "--formulation patterns is made of the schedules of a "
                       "search, and there was none");
    if (!lower && !frame->patterns->has_known)
        return mo_fail(err, MO_E_INPUT,
                       "the search found no schedule that fits into memory, so "
                       "there are no patterns; search longer by --strengthen, "
                       "or take --formulation compact");
    if (lower && frame->patterns->n > 1 &&
        !frame->patterns->segments[0].lower_ns)
        return mo_fail(err, MO_E_INPUT,
                       "there are no lower bounds between cuts with more than "
                       "16 devices; moirai-place has one of the whole");
    m = calloc(1, sizeof *m);
    if (!m)
        return mo_fail_memory(err);
    m->frame = frame;
    m->x = frame->x;
    m->set = frame->patterns;
    m->lower = lower;
    status = list_columns(m, err);
    if (status == MO_OK) {
        m->bytes = calloc(m->n_choices + 1, sizeof *m->bytes);
        status = m->bytes ? MO_OK : mo_fail_memory(err);
    }
    if (status == MO_OK)
        *state = m;
    else
        release_patterns(m);
    return status;
}

static mo_status prepare_upper(const mo_frame *frame, void **state,
                               mo_error *err)
{
    return prepare(frame, false, state, err);
}

static mo_status prepare_lower(const mo_frame *frame, void **state,
                               mo_error *err)
{
    return prepare(frame, true, state, err);
}

static bool has_start(const void *state)
{
    const patterns *m = state;

    return !m->lower && m->set->has_known;
}

/* Returns the pattern of the incumbent, or NULL. */
static const mo_pattern *known_pattern(const patterns *m, int segment)
{
    const mo_pattern_segment *s = &m->set->segments[segment];

    for (size_t i = 0; i < s->n && has_start(m); i++)
        if (s->patterns[i].is_known)
            return &s->patterns[i];
    return NULL;
}

static int64_t known_ns(const patterns *m, int segment)
{
    const mo_pattern *p = known_pattern(m, segment);

    return p ? p->ns : 0;
}

static void declare_time(const patterns *m, mo_sink *sink,
                         mo_variable_role role, int number, int64_t ns)
{
    mo_sink_column(sink, &(mo_variable){ .role = role,
                                         .number = { number },
                                         .upper = INFINITY,
                                         .value = to_units(m, ns) });
}

static void declare_choices(patterns *m, mo_sink *sink)
{
    m->first_p = sink->n_columns;
    for (size_t i = 0; i < m->n_choices; i++) {
        const choice *c = &m->choices[i];

        mo_sink_column(sink,
                       &(mo_variable){
                           .role = MO_VARIABLE_ROLE_PATTERN,
                           .number = { c->segment, c->from, c->to, c->variant },
                           .kind = MO_VARIABLE_BINARY,
                           .upper = 1,
                           .value = c->pattern && c->pattern->is_known });
    }
    m->whole = -1;
    if (has_start(m) && m->set->n > 1)
        m->whole = mo_sink_column(
            sink, &(mo_variable){ .role = MO_VARIABLE_ROLE_PATTERN,
                                  .number = { m->set->n },
                                  .kind = MO_VARIABLE_BINARY,
                                  .upper = 1 });
}

static void declare_places(patterns *m, mo_sink *sink)
{
    for (int segment = 0; segment < m->set->n; segment++) {
        const mo_pattern *known = known_pattern(m, segment);
        int first = m->set->first[segment];

        for (int i = first; i < m->set->first[segment + 1]; i++)
            for (int k = 0; k < m->x->n_devices; k++) {
                size_t at = cell(m, i, k);

                m->place[at] = -1;
                if (m->used[at])
                    m->place[at] = mo_sink_column(
                        sink,
                        &(mo_variable){
                            .role = MO_VARIABLE_ROLE_PLACE,
                            .number = { i, k },
                            .upper = 1,
                            .value = known && known->device[i - first] == k });
            }
    }
}

static void declare_starts(patterns *m, mo_sink *sink)
{
    int64_t begin_ns = 0;

    m->first_s = sink->n_columns;
    for (int segment = 0; segment < m->set->n; segment++) {
        const mo_pattern *known = known_pattern(m, segment);
        int first = m->set->first[segment];

        for (int i = first; i < m->set->first[segment + 1]; i++)
            declare_time(m, sink, MO_VARIABLE_ROLE_START, i,
                         known ? begin_ns + known->start_ns[i - first] : 0);
        begin_ns += known_ns(m, segment);
    }
}

/* Returns the start of a transfer in a pattern, -1: it is not in it. */
static int64_t find_send_ns(const patterns *m, const mo_pattern *p, int number)
{
    for (int i = 0; p && i < p->n_transfers; i++)
        if (send_number(m, &p->transfers[i]) == number)
            return p->transfers[i].start_ns;
    return -1;
}

static void declare_sends(patterns *m, mo_sink *sink)
{
    int64_t begin_ns = 0;
    int segment = 0;

    m->first_t = sink->n_columns;
    for (size_t i = 0; i < m->n_sends; i++) {
        int64_t ns;

        for (; segment < m->sends[i].segment; segment++)
            begin_ns += known_ns(m, segment);
        ns = find_send_ns(m, known_pattern(m, segment), m->sends[i].number);
        declare_time(m, sink, MO_VARIABLE_ROLE_SEND, m->sends[i].number,
                     begin_ns + (ns > 0 ? ns : 0));
    }
}

static void declare_columns(void *state, mo_sink *sink)
{
    patterns *m = state;
    int64_t end_ns = 0;

    for (int i = 0; i < m->set->n; i++)
        end_ns += known_ns(m, i);
    mo_sink_column(sink, &(mo_variable){
                             .role = MO_VARIABLE_ROLE_MAKESPAN,
                             .lower = to_units(m, mo_frame_proven_ns(m->frame)),
                             .upper = INFINITY,
                             .value = to_units(m, end_ns) });
    declare_choices(m, sink);
    m->first_c = sink->n_columns;
    end_ns = 0;
    for (int i = 0; i + 1 < m->set->n; i++) {
        end_ns += known_ns(m, i);
        declare_time(m, sink, MO_VARIABLE_ROLE_COMPLETE,
                     mo_pattern_set_exit(m->set, i), end_ns);
    }
    declare_places(m, sink);
    if (m->lower)
        return;
    declare_starts(m, sink);
    declare_sends(m, sink);
}

static int place_column(const void *state, int op, int device)
{
    const patterns *m = state;

    return m->place[cell(m, op, device)];
}

/* Adds -c_u, where the segment has an entry op u. */
static void add_begin(const patterns *m, mo_sink *sink, int segment)
{
    if (segment > 0)
        mo_sink_term(sink, m->first_c + segment - 1, -1);
}

/* Adds coef * q. */
static void add_whole(const patterns *m, mo_sink *sink, double coef)
{
    if (m->whole >= 0)
        mo_sink_term(sink, m->whole, coef);
}

/* Adds -q if the incumbent has op, of that segment, on the device. */
static void add_whole_place(const patterns *m, mo_sink *sink, int segment,
                            int op, int device)
{
    const mo_pattern *known = known_pattern(m, segment);

    if (known && known->device[op - m->set->first[segment]] == device)
        add_whole(m, sink, -1);
}

static void write_choice_rows(const patterns *m, mo_sink *sink)
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
static bool has_on(const patterns *m, const choice *c, int op, int device)
{
    int first = m->set->first[c->segment];

    return c->pattern ? c->pattern->device[op - first] == device
                      : c->to == device;
}

static void write_place_rows(const patterns *m, mo_sink *sink)
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

static void write_length_rows(const patterns *m, mo_sink *sink)
{
    for (int s = 0; s < m->set->n; s++) {
        bool is_last = s == m->set->n - 1;

        if (is_last || s == 0)
            mo_sink_family(sink, is_last ? "makespan" : "finish");
        mo_sink_term(sink, is_last ? 0 : m->first_c + s, 1);
        add_begin(m, sink, s);
        for (size_t i = m->first_choice[s]; i < m->first_choice[s + 1]; i++)
            mo_sink_term(sink, m->first_p + (int) i,
                         -to_units(m, m->choices[i].ns));
        add_whole(m, sink, -to_units(m, known_ns(m, s)));
        mo_sink_row(sink, is_last ? MO_GE : MO_EQ, 0);
    }
}

static void write_begin_rows(const patterns *m, mo_sink *sink)
{
    mo_sink_family(sink, "begin");
    for (int s = 0; s < m->set->n; s++) {
        const mo_pattern *known = known_pattern(m, s);
        int first = m->set->first[s];

        for (int op = first; op < m->set->first[s + 1]; op++) {
            mo_sink_term(sink, m->first_s + op, 1);
            add_begin(m, sink, s);
            for (size_t i = m->first_choice[s]; i < m->first_choice[s + 1]; i++)
                mo_sink_term(
                    sink, m->first_p + (int) i,
                    -to_units(m, m->choices[i].pattern->start_ns[op - first]));
            if (known)
                add_whole(m, sink, -to_units(m, known->start_ns[op - first]));
            mo_sink_row(sink, MO_EQ, 0);
        }
    }
    mo_sink_family(sink, "send");
    for (size_t t = 0; t < m->n_sends; t++) {
        int s = m->sends[t].segment;
        int64_t known_send_ns =
            find_send_ns(m, known_pattern(m, s), m->sends[t].number);

        mo_sink_term(sink, m->first_t + (int) t, 1);
        add_begin(m, sink, s);
        for (size_t i = m->first_choice[s]; i < m->first_choice[s + 1]; i++) {
            int64_t ns =
                find_send_ns(m, m->choices[i].pattern, m->sends[t].number);

            if (ns > 0)
                mo_sink_term(sink, m->first_p + (int) i, -to_units(m, ns));
        }
        if (known_send_ns > 0)
            add_whole(m, sink, -to_units(m, known_send_ns));
        mo_sink_row(sink, MO_EQ, 0);
    }
}

static int64_t pattern_bytes(const patterns *m, const mo_pattern *p,
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
static void write_memory_rows(const patterns *m, mo_sink *sink)
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
            const choice *c = &m->choices[i];

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

static void write_rows(void *state, mo_sink *sink)
{
    const patterns *m = state;

    if (mo_sink_failed(sink))
        return; /* not all columns are there */
    write_choice_rows(m, sink);
    write_place_rows(m, sink);
    write_length_rows(m, sink);
    if (m->lower)
        return;
    write_begin_rows(m, sink);
    write_memory_rows(m, sink);
}

static int count_transfers(const void *state)
{
    return (int) ((const patterns *) state)->n_sends;
}

static int get_transfer(const void *state, int i)
{
    return ((const patterns *) state)->sends[i].number;
}

const mo_formulation mo_formulation_patterns = {
    .name = "patterns",
    .help = "a choice of schedules of segments",
    .optimum = "the best of its patterns, an upper bound",
    .has_tensors_once = true,
    .has_regime = true,
    .prepare = prepare_upper,
    .columns = declare_columns,
    .rows = write_rows,
    .release = release_patterns,
    .has_start = has_start,
    .n_transfers = count_transfers,
    .transfer = get_transfer,
};

const mo_formulation mo_formulation_patterns_lower = {
    .name = "patterns-lower",
    .help = "the same with lower bounds",
    .optimum = "a lower bound, no placement",
    .lacks_places = true,
    .has_tensors_once = true,
    .has_regime = true,
    .prepare = prepare_lower,
    .columns = declare_columns,
    .rows = write_rows,
    .release = release_patterns,
    .has_start = has_start,
    .n_transfers = count_transfers,
    .transfer = get_transfer,
};
