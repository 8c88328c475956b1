/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The compact MILP, the default: disjunctive scheduling with big-M rows. The
 * same optimum as the paper's model with fewer rows, tighter ones, and no
 * larger M than needed.
 *
 * Ops i, j; devices k, a, b; transfers I, J (models/compact/transfer_items.h),
 * of what op i makes to op j.  Where the paper has S_i, C_i, x_ik, u_qkk',
 * delta_ij there are
 *
 *     w        makespan
 *     x_i_k    1: op i on device k          only where frame->allowed
 *     s_i      start of op i                its end is s_i + sum_k p_ik x_ik
 *     t_I      start of transfer I          its end is t_I + sum_ab c_Iab y_Iab
 *     y_I_a_b  I goes from a to b; a = b: stays.  Continuous, 0 or 1 with x.
 *     o_i_j    1: op i ends before j starts
 *     h_I_J    1: transfer I ends before J starts
 *     m_i_j    1: ops i and j are on one device
 *     g_S_a_b  segment S begins with an op on a and ends with one on b
 *     k        1: the incumbent, as a whole; v, b, q belong to it
 *                                                          (incumbent.c)
 *
 *     minimise w
 *
 *     assign   sum_k x_ik = 1
 *     group    x_ik = x_jk                            i, j in one group
 *     head     s_i >= sum_k head_ik x_ik
 *     tail     w >= s_i + sum_k (p_ik + tail_ik) x_ik     sinks, and where it
 *                                                     differs by device
 *     twin     x_ik <= sum_{j < i} x_jk'              k equal to k' < k
 *     route    sum_b y_Iab = x_ia,  sum_a y_Iab = x_jb     I has one reader
 *     cover    sum_a y_Iab >= x_jb                    I is sent once to b
 *     source   y_Iab <= x_ia
 *     prec     s_j >= s_i + p_i + c_I                 no congestion
 *     wait     s_j >= s_i + p_i
 *     leave    t_I >= s_i + p_i
 *     arrive   s_j >= t_I + c_I      [- M (1 - x_jb), sent once to b]
 *     meet     o_ij + o_ji >= x_ik + x_jk - 1
 *     order    s_j >= s_i + p_i - M (1 - o_ij)
 *     same     m_ij >= x_ik + x_jk - 1
 *     share    h_IJ + h_JI >= 1 where both are sent and share a port, channel
 *              or link                                (transfer_order.c)
 *     queue    t_J >= t_I + c_I - M (1 - h_IJ)
 *     load, traffic    work between clean cuts        (segment_load.c)
 *     anchor, segment, priced   what was proven before (proven_rows.c)
 *     known    what k stands for                      (incumbent.c)
 *     memory, space    (models/frame/memory_rows.h)
 *
 * The rows order, queue and arrive are big-M forms of indicator constraints.
 * M is the latest end of the one less the earliest start of the other, by the
 * frame's windows; w <= horizon.  twin is symmetry breaking; load, traffic,
 * anchor, segment and priced are cutting planes (valid inequalities).  An order
 * for which there is no time has no column, a pair that is apart by its windows
 * no rows.
 */
#include "models/compact/compact.h"

#include <limits.h>
#include <stdlib.h>

#include "base/array.h"
#include "models/formulation.h"
#include "models/compact/disjunctive_pairs.h"
#include "models/sink/scale.h"

double mo_compact_time(const mo_compact *c, int64_t ns)
{
    return mo_scale_time(c->frame->unit_ns, ns);
}

void mo_compact_add_duration_terms(const mo_compact *c, mo_sink *sink, int op,
                                   double sign)
{
    const double *run = c->run + (int64_t) op * c->x->n_devices;
    const int *place = c->place + (int64_t) op * c->x->n_devices;

    for (int k = 0; k < c->x->n_devices; k++)
        if (place[k] >= 0 && run[k] > 0)
            mo_sink_term(sink, place[k], sign * run[k]);
}

void mo_compact_add_delay_terms(const mo_compact *c, mo_sink *sink, int item,
                                double sign)
{
    const mo_transfer_item *it = &c->items->items[item];
    const double *delay = c->delay + c->delay_start[item];

    for (int e = 0; e < it->n_arcs; e++)
        if (delay[e] > 0)
            mo_sink_term(sink, mo_compact_arc_column(c, it, e),
                         sign * delay[e]);
}

static mo_status allocate_arrays(mo_compact *c, mo_error *err)
{
    size_t n = (size_t) c->x->n, cells = n * (size_t) c->x->n_devices;

    c->place = malloc((cells + 1) * sizeof *c->place);
    c->run = malloc((cells + 1) * sizeof *c->run);
    c->order_start = calloc(n + 1, sizeof *c->order_start);
    c->leader = malloc(((size_t) c->x->n_groups + 1) * sizeof *c->leader);
    c->send = malloc(((size_t) c->items->n + 1) * sizeof *c->send);
    c->delay_start =
        malloc(((size_t) c->items->n + 1) * sizeof *c->delay_start);
    return c->place && c->run && c->order_start && c->leader && c->send &&
                   c->delay_start
               ? MO_OK
               : mo_fail_memory(err);
}

static mo_status set_delays(mo_compact *c, mo_error *err)
{
    int64_t n = 0;

    for (int i = 0; i < c->items->n; i++) {
        c->delay_start[i] = n;
        n += c->items->items[i].n_arcs;
    }
    c->delay = malloc(((size_t) n + 1) * sizeof *c->delay);
    if (!c->delay)
        return mo_fail_memory(err);
    for (int i = 0; i < c->items->n; i++) {
        const mo_transfer_item *item = &c->items->items[i];

        for (int e = 0; e < item->n_arcs; e++)
            c->delay[c->delay_start[i] + e] = mo_compact_time(
                c, mo_transfer_items_ns(c->items, item,
                                        c->items->arcs[item->arc_start + e]));
    }
    return MO_OK;
}

/* Numbers the columns up to y; returns how many there are. */
static int64_t number_first_columns(mo_compact *c)
{
    int64_t cells = (int64_t) c->x->n * c->x->n_devices, id = 1;

    for (int64_t cell = 0; cell < cells; cell++)
        c->place[cell] = c->frame->allowed[cell] ? (int) id++ : -1;
    c->first_start = (int) id;
    id += c->x->n;
    /* An item has a column where its send time matters. */
    for (int i = 0; i < c->items->n; i++) {
        const mo_transfer_item *item = &c->items->items[i];
        bool is_timed =
            item->n_uses > 0 || (item->device != MO_FREE && item->may_be_sent);

        c->send[i] = is_timed ? (int) id++ : -1;
    }
    c->first_arc = (int) id;
    return id + c->items->n_arcs;
}

static mo_status number_orders(mo_compact *c, int64_t *id, mo_error *err)
{
    size_t n = 0, room = 0;
    mo_status status = MO_OK;
    mo_disjunctive_pairs pairs;

    mo_disjunctive_pairs_begin(c->frame, &pairs);
    while (status == MO_OK && mo_disjunctive_pairs_next(&pairs)) {
        if (*id > INT_MAX - 2)
            return mo_fail(err, MO_E_LIMIT,
                           "the model has more than %d columns", INT_MAX);
        status = MO_ARRAY_GROW(c->orders, n, room, err);
        if (status != MO_OK)
            break;
        c->orders[n].j = pairs.j;
        c->orders[n].forward = pairs.forward ? (int) (*id)++ : -1;
        c->orders[n++].backward = pairs.backward ? (int) (*id)++ : -1;
        c->order_start[pairs.i + 1] = (int64_t) n;
    }
    for (int i = 0; i < c->x->n; i++)
        if (c->order_start[i + 1] < c->order_start[i])
            c->order_start[i + 1] = c->order_start[i];
    return status;
}

static mo_status number_all_columns(mo_compact *c, mo_error *err)
{
    int64_t id = number_first_columns(c), n_send_orders = 0;
    mo_status status = number_orders(c, &id, err);

    if (status == MO_OK)
        status = mo_compact_count_transfer_orders(c, &n_send_orders, err);
    if (status != MO_OK)
        return status;
    c->first_same_device = (int) id;
    id += (int64_t) c->same_device.n;
    if (id + n_send_orders > INT_MAX)
        return mo_fail(err, MO_E_LIMIT, "the model has more than %d columns",
                       INT_MAX);
    c->first_send_order = (int) id;
    c->first_segment = (int) (id + n_send_orders);
    return mo_compact_proven_find(c, err);
}

static void release_compact(void *state)
{
    mo_compact *c = state;

    if (!c)
        return;
    mo_transfer_items_free(c->items);
    mo_memory_rows_free(c->memory);
    free(c->same_device.pairs);
    free(c->same_device.slots);
    free(c->start);
    free(c->leader);
    free(c->place);
    free(c->send);
    free(c->orders);
    free(c->segments);
    free(c->segment_arcs);
    free(c->order_start);
    free(c->run);
    free(c->delay);
    free(c->delay_start);
    free(c);
}

static mo_status build_compact(mo_compact *c, mo_error *err)
{
    int64_t cells;
    mo_status status;

    if ((status = mo_transfer_items_make(c->frame, &c->items, err)) != MO_OK ||
        (status = mo_memory_rows_new(c->frame, &c->memory, err)) != MO_OK ||
        (status = allocate_arrays(c, err)) != MO_OK)
        return status;
    cells = (int64_t) c->x->n * c->x->n_devices;
    for (int64_t cell = 0; cell < cells; cell++)
        c->run[cell] = mo_compact_time(c, c->x->p_ns[cell]);
    for (int i = c->x->n - 1; i >= 0; i--)
        if (c->x->group[i] != MO_FREE)
            c->leader[c->x->group[i]] = i;
    if ((status = set_delays(c, err)) != MO_OK ||
        (status = number_all_columns(c, err)) != MO_OK)
        return status;
    /* Live memory is bounded from above: not every schedule that fits is a
     * feasible start. */
    if (!c->frame->start ||
        !mo_memory_rows_accept(c->memory, c->frame->start->device))
        return MO_OK;
    if (c->frame->proven && c->frame->slack == 0)
        c->incumbent = c->end_segment;
    /* Ids are ints: a model this large is written without. */
    if (c->incumbent > INT_MAX / 2 ||
        mo_compact_incumbent_count(c) > INT_MAX / 2)
        c->incumbent = -1;
    return mo_compact_start_make(c, err);
}

static mo_status prepare_compact(const mo_frame *frame, void **state,
                                 mo_error *err)
{
    mo_compact *c = calloc(1, sizeof *c);
    mo_status status;

    if (!c)
        return mo_fail_memory(err);
    c->frame = frame;
    c->x = frame->x;
    c->incumbent = -1;
    status = build_compact(c, err);
    if (status == MO_OK)
        *state = c;
    else
        release_compact(c);
    return status;
}

static int place_column(const void *state, int op, int device)
{
    return mo_compact_place_column(state, op, device);
}

/* A copy for each reader, or one for all of them.  Parallel tensors between
 * the same two ops share their columns. */
static void add_received_terms(const void *state, mo_sink *sink, int tensor,
                               int device, double coef)
{
    const mo_compact *c = state;

    for (int i = c->items->of_tensor[tensor];
         i < c->items->of_tensor[tensor + 1]; i++) {
        const mo_transfer_item *item = &c->items->items[i];

        for (int e = 0; e < item->n_arcs; e++) {
            mo_transfer_arc arc = c->items->arcs[item->arc_start + e];

            if (arc.b == device && arc.a != device)
                mo_sink_term_add(sink, mo_compact_arc_column(c, item, e), coef);
        }
    }
}

static void write_rows(void *state, mo_sink *sink)
{
    const mo_compact *c = state;
    mo_memory_rows_source columns = { c, place_column, add_received_terms };

    mo_compact_assignment_rows(c, sink);
    mo_compact_transfer_choice_rows(c, sink);
    mo_compact_op_order_rows(c, sink);
    mo_compact_transfer_order_rows(c, sink);
    mo_compact_segment_load_rows(c, sink);
    mo_compact_proven_rows(c, sink);
    mo_compact_incumbent_rows(c, sink);
    mo_memory_rows_write(c->memory, &columns, sink);
}

static int count_transfers(const void *state)
{
    return ((const mo_compact *) state)->items->n;
}

static int transfer_name(const void *state, int i)
{
    return ((const mo_compact *) state)->items->items[i].name;
}

static bool has_start(const void *state)
{
    return ((const mo_compact *) state)->start;
}

const mo_formulation mo_formulation_compact = {
    .name = "compact",
    .help = "the paper's optimum with fewer and tighter rows",
    .has_tensors_once = true,
    .has_regime = true,
    .prepare = prepare_compact,
    .columns = mo_compact_columns,
    .rows = write_rows,
    .release = release_compact,
    .has_start = has_start,
    .n_transfers = count_transfers,
    .transfer = transfer_name,
};
