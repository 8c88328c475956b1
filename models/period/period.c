/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The period of a pipeline with many requests in flight: the largest load.
 *
 *     minimize w
 *     sum_k x_ik = 1                                           assignment
 *     sum_i p_ik x_ik + sum_q sum_b o_qk (y_qkb + y_qbk) <= w
 *                                                 for all k    load
 *     sum_q sum_ab in r c_qab y_qab <= w          for all r    transfer
 *     h + sum_q sum_ab g y_qab <= w                            host
 *     memory of the ops of a device <= capacity                memory
 *
 * over the resources r of transfers: ports, channels or links; o_qk is the
 * overhead of a transfer on a device that sends or receives it; h and g are the
 * time of the host for a request and for a transfer.  With a transfer per edge
 * y_qab moves flow q = (i, j) from a to b as a transport of x_i to x_j, whose
 * part that stays on a device has no column:
 *
 *     x_ia - x_ja = sum_b y_qab - sum_b y_qba     for all a    conserve
 *     sum_b y_qab <= x_ia                         for all a    supply
 *
 * With tensors once y_tab sends tensor t of op i to the readers j on b:
 *
 *     sum_a y_tab >= x_jb - x_ib                  for all j, b receive
 *     y_tab <= x_ia                               for all a, b origin
 *
 * There are no orders: a modulo schedule (schedule/period) follows from the
 * placement.  y need not be integer: integer x make it so.
 *
 * Without --in-flight there are no start times s either.  With at most F
 * requests in flight a request takes F periods at most, and no less than the
 * longest path:
 *
 *     s_j >= s_i + sum_k p_ik x_ik + sum_ab c_qab y_qab        path
 *     s_i + sum_k p_ik x_ik <= F w                for all i    latency
 *
 * with tensors once, for all b and C_tb the longest transfer of t to b
 *
 *     s_j >= s_i + sum_k p_ik x_ik + sum_a c_tab y_tab - C_tb (1 - x_jb)
 *
 * That is a relaxation: a request also waits for the resources that others
 * hold, which takes orders modulo the period.
 */
#include <math.h>
#include <stdlib.h>

#include "base/minmax.h"
#include "models/formulation.h"
#include "models/frame/memory_rows.h"
#include "models/paper/placement_block.h"
#include "models/sink/scale.h"
#include "models/transfer_number.h"
#include "schedule/period/loads.h"
#include "schedule/resource.h"

typedef struct period {
    const mo_frame *frame;
    mo_placement_block on;
    mo_memory_rows *memory;
    bool once;          /* y by tensor, not by flow */
    int n_items;        /* flows or tensors with y; 0: they take no time */
    bool loads;         /* transfers hold resources */
    int first_transfer; /* column of item 0 from device 0 to 1 */
    int first_start;    /* column of op 0, with a limit in flight */
    int *numbers;       /* of transfers, as written */
    int n_numbers;
    int64_t start_ns; /* period of the start */
} period;

static void release_period(void *state)
{
    period *m = state;

    if (!m)
        return;
    mo_placement_block_clear(&m->on);
    mo_memory_rows_free(m->memory);
    free(m->numbers);
    free(m);
}

static int count_devices(const period *m)
{
    return m->frame->x->n_devices;
}

/* The number of item's transfer to device b, in names. */
static int transfer_number(const period *m, int item, int b)
{
    const mo_instance *x = m->frame->x;
    bool alone =
        !m->once || x->tensor_start[item + 1] - x->tensor_start[item] == 1;

    return mo_transfer_number(x, &m->frame->regime, item, alone ? MO_FREE : b);
}

static mo_status list_transfers(period *m, mo_error *err)
{
    int K = count_devices(m);

    m->numbers =
        calloc((size_t) m->n_items * (size_t) K + 1, sizeof *m->numbers);
    if (!m->numbers)
        return mo_fail_memory(err);
    for (int i = 0; i < m->n_items; i++)
        for (int b = 0; b < K; b++) {
            int number = transfer_number(m, i, b);

            if (m->n_numbers == 0 || m->numbers[m->n_numbers - 1] != number)
                m->numbers[m->n_numbers++] = number;
        }
    return MO_OK;
}

static mo_status evaluate_start(period *m, mo_error *err)
{
    const mo_schedule *start = m->frame->start;
    mo_period_loads loads = { 0 };
    mo_status status;

    if (!start)
        return MO_OK;
    status = mo_period_loads_compute(m->frame->x, &m->frame->regime,
                                     start->device, &loads, err);
    m->start_ns = loads.period_ns;
    if (m->frame->in_flight > 0) /* rounded up */
        m->start_ns = mo_max_i64(
            m->start_ns, (start->makespan_ns + m->frame->in_flight - 1) /
                             m->frame->in_flight);
    mo_period_loads_clear(&loads);
    return status;
}

static mo_status prepare_period(const mo_frame *frame, void **state,
                                mo_error *err)
{
    const mo_instance *x = frame->x;
    period *m;
    mo_status status;

    if (frame->regime.memory == MO_MEMORY_LIVE)
        return mo_fail(err, MO_E_USAGE,
                       "--objective period counts the memory of all ops of a "
                       "device; take --memory static or none");
    m = calloc(1, sizeof *m);
    if (!m)
        return mo_fail_memory(err);
    m->frame = frame;
    m->once = mo_transfer_is_tensor(&frame->regime);
    m->loads = frame->regime.congestion != MO_CONGESTION_NONE;
    if (m->loads || frame->in_flight > 0)
        m->n_items = m->once ? x->n_tensors : x->n_flows;
    status = mo_placement_block_init(&m->on, x, NULL, x->n_devices, err);
    if (status == MO_OK)
        status = mo_memory_rows_new(frame, &m->memory, err);
    if (status == MO_OK)
        status = list_transfers(m, err);
    if (status == MO_OK)
        status = evaluate_start(m, err);
    if (status == MO_OK)
        *state = m;
    else
        release_period(m);
    return status;
}

static double to_units(const period *m, int64_t ns)
{
    return mo_scale_time(m->frame->unit_ns, ns);
}

static int place_column(const void *state, int op, int device)
{
    const period *m = state;

    return mo_placement_block_column(&m->on, op, device);
}

/* Column of item from a to b, a and b different. */
static int transfer_column(const period *m, int item, int a, int b)
{
    int K = count_devices(m);

    return m->first_transfer + (item * K + a) * (K - 1) + b - (b > a);
}

/* Whether the start sends the item from a to b. */
static bool is_sent(const period *m, int item, int a, int b)
{
    const mo_instance *x = m->frame->x;
    const mo_schedule *start = m->frame->start;
    int first = m->once ? x->tensor_start[item] : item;
    int end = m->once ? x->tensor_start[item + 1] : item + 1;

    for (int q = first; q < end && start; q++)
        if (start->device[x->flows[q].from] == a &&
            start->device[x->flows[q].to] == b)
            return true;
    return false;
}

/* No load exceeds the makespan by more than the overheads of all transfers and
 * the time of the host. */
static int64_t most_overhead_ns(const period *m)
{
    const mo_instance *x = m->frame->x;
    int64_t sum_ns = x->load.host_request_ns;

    for (int q = 0; q < x->n_flows && m->loads; q++) {
        int64_t most_ns = 0;

        for (int k = 0; k < x->n_devices; k++)
            most_ns = mo_max_i64(
                most_ns, mo_instance_overhead_ns(x, x->flows[q].tensor, k));
        sum_ns += 2 * most_ns + x->load.host_transfer_ns;
    }
    return sum_ns;
}

static void declare_columns(void *state, mo_sink *sink)
{
    period *m = state;
    const mo_schedule *start = m->frame->start;
    int K = count_devices(m);

    mo_sink_column(
        sink, &(mo_variable){ .role = MO_VARIABLE_ROLE_MAKESPAN,
                              .upper = to_units(m, m->frame->horizon_ns +
                                                       most_overhead_ns(m)),
                              .value = to_units(m, m->start_ns) });
    mo_placement_block_columns(&m->on, start, sink);
    m->first_transfer = sink->n_columns;
    for (int i = 0; i < m->n_items; i++)
        for (int a = 0; a < K; a++)
            for (int b = 0; b < K; b++)
                if (a != b)
                    mo_sink_column(
                        sink, &(mo_variable){
                                  .role = MO_VARIABLE_ROLE_CHANNEL,
                                  .number = { transfer_number(m, i, b), a, b },
                                  .upper = 1,
                                  .value = is_sent(m, i, a, b) });
    m->first_start = sink->n_columns;
    for (int i = 0; i < m->frame->x->n && m->frame->in_flight > 0; i++)
        mo_sink_column(
            sink, &(mo_variable){
                      .role = MO_VARIABLE_ROLE_START,
                      .number = { i },
                      .upper = INFINITY,
                      .value = start ? to_units(m, start->start_ns[i]) : 0 });
    mo_memory_rows_columns(m->memory, start, sink);
}

/* sum of y from a to the others, or from the others to a, times coef */
static void add_transfers(const period *m, mo_sink *sink, int item, int a,
                          bool leaving, double coef)
{
    for (int b = 0; b < count_devices(m); b++)
        if (b != a)
            mo_sink_term(sink,
                         leaving ? transfer_column(m, item, a, b)
                                 : transfer_column(m, item, b, a),
                         coef);
}

static void write_tensor_rows(const period *m, mo_sink *sink)
{
    const mo_instance *x = m->frame->x;
    int K = count_devices(m);

    mo_sink_family(sink, "receive");
    for (int q = 0; q < x->n_flows; q++)
        for (int b = 0; b < K && K > 1; b++) {
            add_transfers(m, sink, x->flows[q].tensor, b, false, 1);
            mo_sink_term(sink, place_column(m, x->flows[q].from, b), 1);
            mo_sink_term(sink, place_column(m, x->flows[q].to, b), -1);
            mo_sink_row(sink, MO_GE, 0);
        }
    mo_sink_family(sink, "origin");
    for (int t = 0; t < m->n_items; t++) {
        int producer =
            m->once ? m->frame->x->tensor_from[t] : m->frame->x->flows[t].from;

        for (int a = 0; a < K; a++)
            for (int b = 0; b < K; b++)
                if (a != b) {
                    mo_sink_term(sink, place_column(m, producer, a), 1);
                    mo_sink_term(sink, transfer_column(m, t, a, b), -1);
                    mo_sink_row(sink, MO_GE, 0);
                }
    }
}

static bool holds_resource(const period *m, int a, int b, int resource)
{
    int pair[2];
    const int *ids;
    int n = a == b ? 0
                   : mo_resource_list(m->frame->x, m->frame->regime.congestion,
                                      a, b, pair, &ids);

    for (int i = 0; i < n; i++)
        if (ids[i] == resource)
            return true;
    return false;
}

static void write_load_rows(const period *m, mo_sink *sink)
{
    const mo_instance *x = m->frame->x;
    const mo_regime *regime = &m->frame->regime;
    int K = count_devices(m);
    int n_resources = m->loads ? mo_resource_count(x, regime->congestion) : 0;

    mo_sink_family(sink, "load");
    for (int k = 0; k < K; k++) {
        mo_sink_term(sink, 0, 1);
        for (int i = 0; i < x->n; i++)
            mo_sink_term(sink, place_column(m, i, k),
                         -to_units(m, mo_instance_p_ns(x, i, k)));
        for (int i = 0; i < m->n_items && m->loads && x->load.overhead_ns;
             i++) {
            int tensor = m->once ? i : x->flows[i].tensor;
            int64_t ns = mo_instance_overhead_ns(x, tensor, k);

            add_transfers(m, sink, i, k, true, -to_units(m, ns));
            add_transfers(m, sink, i, k, false, -to_units(m, ns));
        }
        mo_sink_row(sink, MO_GE, 0);
    }
    mo_sink_family(sink, "transfer");
    for (int r = 0; r < n_resources; r++) {
        mo_sink_term(sink, 0, 1);
        for (int a = 0; a < K; a++)
            for (int b = 0; b < K; b++)
                for (int i = 0; holds_resource(m, a, b, r) && i < m->n_items;
                     i++)
                    mo_sink_term(
                        sink, transfer_column(m, i, a, b),
                        -to_units(m, mo_schedule_item_ns(x, regime, i, a, b)));
        mo_sink_row(sink, MO_GE, 0);
    }
    if (!mo_instance_has_host(x))
        return;
    mo_sink_family(sink, "host");
    mo_sink_term(sink, 0, 1);
    for (int i = 0; i < m->n_items && m->loads; i++)
        for (int a = 0; a < K; a++)
            add_transfers(m, sink, i, a, true,
                          -to_units(m, x->load.host_transfer_ns));
    mo_sink_row(sink, MO_GE, to_units(m, x->load.host_request_ns));
}

/* times coef */
static void add_processing(const period *m, mo_sink *sink, int op, double coef)
{
    for (int k = 0; k < count_devices(m); k++)
        mo_sink_term(sink, place_column(m, op, k),
                     coef * to_units(m, mo_instance_p_ns(m->frame->x, op, k)));
}

/* Of flow q to device b; MO_FREE: to all of them. */
static void write_path_row(const period *m, mo_sink *sink, int q, int b)
{
    const mo_flow *flow = &m->frame->x->flows[q];
    int K = count_devices(m);
    int64_t most_ns = 0;

    mo_sink_term(sink, m->first_start + flow->to, 1);
    mo_sink_term(sink, m->first_start + flow->from, -1);
    add_processing(m, sink, flow->from, -1);
    for (int a = 0; a < K; a++)
        for (int to = b == MO_FREE ? 0 : b; to < K && (b == MO_FREE || to == b);
             to++) {
            int64_t ns;

            if (a == to)
                continue;
            ns = mo_schedule_flow_ns(m->frame->x, &m->frame->regime, q, a, to);
            most_ns = mo_max_i64(most_ns, ns);
            mo_sink_term(sink,
                         transfer_column(m, m->once ? flow->tensor : q, a, to),
                         -to_units(m, ns));
        }
    if (b != MO_FREE)
        mo_sink_term(sink, place_column(m, flow->to, b), -to_units(m, most_ns));
    mo_sink_row(sink, MO_GE, b == MO_FREE ? 0 : -to_units(m, most_ns));
}

static void write_rows(void *state, mo_sink *sink)
{
    const period *m = state;
    const mo_memory_rows_source columns = { .state = m, .place = place_column };

    if (mo_sink_failed(sink))
        return; /* not all columns are there */
    mo_placement_block_rows(&m->on, sink);
    if (m->once)
        write_tensor_rows(m, sink);
    else if (m->n_items > 0) {
        const mo_instance *x = m->frame->x;
        int K = count_devices(m);

        mo_sink_family(sink, "conserve");
        for (int q = 0; q < m->n_items; q++)
            for (int a = 0; a < K; a++) {
                mo_sink_term(sink, place_column(m, x->flows[q].from, a), 1);
                mo_sink_term(sink, place_column(m, x->flows[q].to, a), -1);
                add_transfers(m, sink, q, a, true, -1);
                add_transfers(m, sink, q, a, false, 1);
                mo_sink_row(sink, MO_EQ, 0);
            }
        mo_sink_family(sink, "supply");
        for (int q = 0; q < m->n_items; q++)
            for (int a = 0; a < K && K > 1; a++) {
                mo_sink_term(sink, place_column(m, x->flows[q].from, a), 1);
                add_transfers(m, sink, q, a, true, -1);
                mo_sink_row(sink, MO_GE, 0);
            }
    }
    write_load_rows(m, sink);
    if (m->frame->in_flight > 0) {
        const mo_instance *x = m->frame->x;

        mo_sink_family(sink, "path");
        for (int q = 0; q < x->n_flows; q++)
            for (int b = m->once ? 0 : MO_FREE;
                 b < (m->once ? count_devices(m) : MO_FREE + 1); b++)
                write_path_row(m, sink, q, b);
        mo_sink_family(sink, "latency");
        for (int i = 0; i < x->n; i++) {
            mo_sink_term(sink, 0, m->frame->in_flight);
            mo_sink_term(sink, m->first_start + i, -1);
            add_processing(m, sink, i, -1);
            mo_sink_row(sink, MO_GE, 0);
        }
    }
    mo_memory_rows_write(m->memory, &columns, sink);
}

static int count_transfers(const void *state)
{
    return ((const period *) state)->n_numbers;
}

static int get_transfer(const void *state, int i)
{
    return ((const period *) state)->numbers[i];
}

const mo_formulation mo_formulation_period = {
    .name = "period",
    .help = "largest load, for many requests in flight",
    .is_period = true,
    .has_tensors_once = true,
    .has_regime = true,
    .prepare = prepare_period,
    .columns = declare_columns,
    .rows = write_rows,
    .release = release_period,
    .n_transfers = count_transfers,
    .transfer = get_transfer,
};
