/* SPDX-License-Identifier: Apache-2.0 */
#include "models/patterns/pattern_model.h"

#include <math.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/minmax.h"
#include "models/transfer_number.h"

void mo_pattern_model_free(void *state)
{
    mo_pattern_model *m = state;

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

static size_t cell(const mo_pattern_model *m, int op, int device)
{
    return (size_t) op * (size_t) m->x->n_devices + (size_t) device;
}

static mo_status add_choice(mo_pattern_model *m, const mo_pattern_choice *c,
                            mo_error *err)
{
    mo_status status = MO_ARRAY_GROW(m->choices, m->n_choices, m->room, err);

    if (status == MO_OK)
        m->choices[m->n_choices++] = *c;
    return status;
}

static mo_status list_patterns(mo_pattern_model *m, int segment, mo_error *err)
{
    const mo_pattern_segment *s = &m->set->segments[segment];
    mo_status status = MO_OK;

    for (size_t i = 0; i < s->n && status == MO_OK; i++) {
        const mo_pattern *p = &s->patterns[i];

        status = add_choice(m,
                            &(mo_pattern_choice){ segment, p->from, p->to,
                                                  p->variant, p->ns, p },
                            err);
    }
    return status;
}

/* One for each pair of devices. */
static mo_status list_bounds(mo_pattern_model *m, int segment, mo_error *err)
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
                status = add_choice(
                    m, &(mo_pattern_choice){ segment, a, b, 0, ns, NULL }, err);
        }
    return status;
}

/* Transfers in flight do not matter where none excludes another. */
static bool has_sends(const mo_pattern_model *m)
{
    return m->side == MO_PATTERNS_UPPER &&
           m->frame->regime.congestion != MO_CONGESTION_NONE;
}

/* The number of a transfer in names. */
static int send_number(const mo_pattern_model *m, const mo_transfer *t)
{
    const mo_instance *x = m->x;
    bool alone = !mo_transfer_is_tensor(&m->frame->regime) ||
                 x->tensor_start[t->item + 1] - x->tensor_start[t->item] == 1;

    return mo_transfer_number(x, &m->frame->regime, t->item,
                              alone ? MO_FREE : t->to);
}

static int compare_sends(const void *a, const void *b)
{
    const mo_pattern_send *s = a, *t = b;

    return (s->number > t->number) - (s->number < t->number);
}

/* Lists the transfers of all patterns of a segment, each once. */
static mo_status list_sends(mo_pattern_model *m, int segment, mo_error *err)
{
    const mo_pattern_segment *s = &m->set->segments[segment];
    size_t first = m->n_sends, kept = first;

    for (size_t i = 0; i < s->n; i++)
        for (int j = 0; j < s->patterns[i].n_transfers; j++) {
            mo_status status =
                MO_ARRAY_GROW(m->sends, m->n_sends, m->sends_room, err);

            if (status != MO_OK)
                return status;
            m->sends[m->n_sends++] = (mo_pattern_send){
                segment, send_number(m, &s->patterns[i].transfers[j])
            };
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
static void mark_places(mo_pattern_model *m, const mo_pattern_choice *c)
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

static mo_status list_columns(mo_pattern_model *m, mo_error *err)
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
        status = m->side == MO_PATTERNS_LOWER ? list_bounds(m, i, err)
                                              : list_patterns(m, i, err);
        if (status == MO_OK && has_sends(m))
            status = list_sends(m, i, err);
    }
    m->first_choice[n] = m->n_choices;
    for (size_t i = 0; i < m->n_choices; i++)
        mark_places(m, &m->choices[i]);
    return status;
}

mo_status mo_pattern_model_new(const mo_frame *frame, mo_pattern_side side,
                               void **state, mo_error *err)
{
    bool lower = side == MO_PATTERNS_LOWER;
    mo_pattern_model *m;
    mo_status status;

    if (frame->regime.memory == MO_MEMORY_LIVE)
        return mo_fail(err, MO_E_USAGE,
                       "--formulation patterns counts the memory of all ops "
                       "of a device; take --memory static or none");
    if (!frame->patterns || frame->patterns->n == 0)
        return mo_fail(err, MO_E_USAGE,
                       "--formulation patterns is made of the schedules of a "
                       "search, and there was none");
    if (side == MO_PATTERNS_PERIOD && frame->patterns->n_loads == 0)
        return mo_fail(err, MO_E_INPUT,
                       "the search found no placement that fits into memory, "
                       "so there are no patterns; search longer by "
                       "--strengthen, or take --formulation period");
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
    m->side = side;
    status = list_columns(m, err);
    if (status == MO_OK) {
        m->bytes = calloc(m->n_choices + 1, sizeof *m->bytes);
        status = m->bytes ? MO_OK : mo_fail_memory(err);
    }
    if (status == MO_OK)
        *state = m;
    else
        mo_pattern_model_free(m);
    return status;
}

bool mo_pattern_model_has_start(const void *state)
{
    const mo_pattern_model *m = state;

    return m->side != MO_PATTERNS_LOWER && m->set->has_known;
}

const mo_pattern *mo_pattern_model_known(const mo_pattern_model *m, int segment)
{
    const mo_pattern_segment *s = &m->set->segments[segment];

    for (size_t i = 0; i < s->n && mo_pattern_model_has_start(m); i++)
        if (s->patterns[i].is_known)
            return &s->patterns[i];
    return NULL;
}

static void declare_time(const mo_pattern_model *m, mo_sink *sink,
                         mo_variable_role role, int number, int64_t ns)
{
    mo_sink_column(sink,
                   &(mo_variable){ .role = role,
                                   .number = { number },
                                   .upper = INFINITY,
                                   .value = mo_pattern_model_units(m, ns) });
}

static void declare_choices(mo_pattern_model *m, mo_sink *sink)
{
    m->first_p = sink->n_columns;
    for (size_t i = 0; i < m->n_choices; i++) {
        const mo_pattern_choice *c = &m->choices[i];

        mo_sink_column(sink,
                       &(mo_variable){
                           .role = MO_VARIABLE_ROLE_PATTERN,
                           .number = { c->segment, c->from, c->to, c->variant },
                           .kind = MO_VARIABLE_BINARY,
                           .upper = 1,
                           .value = c->pattern && c->pattern->is_known });
    }
    m->whole = -1;
    if (mo_pattern_model_has_start(m) && m->set->n > 1)
        m->whole = mo_sink_column(
            sink, &(mo_variable){ .role = MO_VARIABLE_ROLE_PATTERN,
                                  .number = { m->set->n },
                                  .kind = MO_VARIABLE_BINARY,
                                  .upper = 1 });
}

static void declare_places(mo_pattern_model *m, mo_sink *sink)
{
    for (int segment = 0; segment < m->set->n; segment++) {
        const mo_pattern *known = mo_pattern_model_known(m, segment);
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

static void declare_starts(mo_pattern_model *m, mo_sink *sink)
{
    int64_t begin_ns = 0;

    m->first_s = sink->n_columns;
    for (int segment = 0; segment < m->set->n; segment++) {
        const mo_pattern *known = mo_pattern_model_known(m, segment);
        int first = m->set->first[segment];

        for (int i = first; i < m->set->first[segment + 1]; i++)
            declare_time(m, sink, MO_VARIABLE_ROLE_START, i,
                         known ? begin_ns + known->start_ns[i - first] : 0);
        begin_ns += mo_pattern_model_known_ns(m, segment);
    }
}

int64_t mo_pattern_model_send_ns(const mo_pattern_model *m, const mo_pattern *p,
                                 int number)
{
    for (int i = 0; p && i < p->n_transfers; i++)
        if (send_number(m, &p->transfers[i]) == number)
            return p->transfers[i].start_ns;
    return -1;
}

static void declare_sends(mo_pattern_model *m, mo_sink *sink)
{
    int64_t begin_ns = 0;
    int segment = 0;

    m->first_t = sink->n_columns;
    for (size_t i = 0; i < m->n_sends; i++) {
        int64_t ns;

        for (; segment < m->sends[i].segment; segment++)
            begin_ns += mo_pattern_model_known_ns(m, segment);
        ns = mo_pattern_model_send_ns(m, mo_pattern_model_known(m, segment),
                                      m->sends[i].number);
        declare_time(m, sink, MO_VARIABLE_ROLE_SEND, m->sends[i].number,
                     begin_ns + (ns > 0 ? ns : 0));
    }
}

/* Returns the period of the incumbent. */
static int64_t known_period_ns(const mo_pattern_model *m)
{
    int64_t most_ns = 0;

    for (int r = 0; r < m->set->n_loads && mo_pattern_model_has_start(m); r++) {
        int64_t sum_ns = m->set->base_ns[r];

        for (int i = 0; i < m->set->n; i++)
            sum_ns += mo_pattern_model_known(m, i)->load_ns[r];
        most_ns = mo_max_i64(most_ns, sum_ns);
    }
    return most_ns;
}

void mo_pattern_model_columns(void *state, mo_sink *sink)
{
    mo_pattern_model *m = state;
    bool is_period = m->side == MO_PATTERNS_PERIOD;
    int64_t end_ns = 0;

    for (int i = 0; i < m->set->n; i++)
        end_ns += mo_pattern_model_known_ns(m, i);
    mo_sink_column(sink, &(mo_variable){
                             .role = MO_VARIABLE_ROLE_MAKESPAN,
                             .lower = mo_pattern_model_units(
                                 m, is_period ? m->set->lower_ns
                                              : mo_frame_proven_ns(m->frame)),
                             .upper = INFINITY,
                             .value = mo_pattern_model_units(
                                 m, is_period ? known_period_ns(m) : end_ns) });
    declare_choices(m, sink);
    m->first_c = sink->n_columns;
    end_ns = 0;
    for (int i = 0; i + 1 < m->set->n && !is_period; i++) {
        end_ns += mo_pattern_model_known_ns(m, i);
        declare_time(m, sink, MO_VARIABLE_ROLE_COMPLETE,
                     mo_pattern_set_exit(m->set, i), end_ns);
    }
    declare_places(m, sink);
    if (m->side != MO_PATTERNS_UPPER)
        return;
    declare_starts(m, sink);
    declare_sends(m, sink);
}
