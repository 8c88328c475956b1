/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The program of Pesto (Hafeez, Sun, Gandhi, Liu: Towards optimal placement and
 * scheduling of DNN operations with Pesto, Middleware 2021): placement and
 * order on two devices, exactly.
 *
 * The devices g and h are the two that run the whole network fastest alone; of
 * equals those with the smaller numbers.  The rows are those of paper.c over
 * them, which come from Pesto in the first place: with x_i = x_ih = 1 - x_ig,
 *
 *     z_q = x_i xor x_j              its four rows are "cross" for g and h
 *     C_q = S_q + c_qgh y_qgh + c_qhg y_qhg
 *     non-overlap on g and on h      big-M rows with an order o_ij
 *     congestion                     big-M rows with an order h_qr for each of
 *                                    the two directions between g and h
 *     memory of g and of h
 *
 * With two devices a port is a direction, so congestion by port is written by
 * channel: half the rows, the same solutions.
 *
 * Two devices may need longer than the start found for all of them.  Then the
 * model has a frame of its own, with the best start of these: either device
 * alone, and one device filled before the other.
 */
#include <stdlib.h>

#include "models/formulation.h"
#include "models/frame/memory_rows.h"
#include "models/paper/paper.h"
#include "schedule/heuristic/heft.h"
#include "schedule/serial_makespan.h"
#include "schedule/heuristic/single_device.h"
#include "schedule/placement_units.h"

/* Returns the device that runs everything fastest, other than the one
 * given. */
static int fastest_except(const mo_instance *x, int other)
{
    int best = -1;

    for (int k = 0; k < x->n_devices; k++)
        if (k != other && (best < 0 || mo_single_device_ns(x, k) <
                                           mo_single_device_ns(x, best)))
            best = k;
    return best;
}

/* One or two devices, increasing. */
static int choose_devices(const mo_instance *x, int device[2])
{
    int first = fastest_except(x, -1), second = fastest_except(x, first);

    if (second < 0) {
        device[0] = first;
        return 1;
    }
    device[0] = first < second ? first : second;
    device[1] = first < second ? second : first;
    return 2;
}

static mo_status refuse_pins(const mo_instance *x, const int *device, int n,
                             mo_error *err)
{
    for (int i = 0; i < x->n; i++) {
        int pin = x->pin[i];

        if (pin != MO_FREE && pin != device[0] && pin != device[n - 1])
            return mo_fail(err, MO_E_INPUT,
                           "op '%s' is pinned to '%s', but pesto places on "
                           "the two fastest devices only: '%s' and '%s'",
                           x->op_names[i], x->device_ids[pin],
                           x->device_ids[device[0]],
                           x->device_ids[device[n - 1]]);
    }
    return MO_OK;
}

/* Keeps other, which may be NULL, if the rows accept it and it is better;
 * frees the one not kept. */
static void keep_better(const mo_memory_rows *rows, mo_schedule **best,
                        mo_schedule *other)
{
    if (!other || (*best && (*best)->makespan_ns <= other->makespan_ns) ||
        !mo_memory_rows_accept(rows, other->device)) {
        mo_schedule_free(other);
        return;
    }
    mo_schedule_free(*best);
    *best = other;
}

/* Fills the first device before the second, unit by unit; returns false when
 * something fits neither. */
static bool place_units(const mo_placement_units *units, const int order[2],
                        int64_t *room_bytes, int *placement)
{
    for (int u = 0; u < units->n; u++) {
        int k = units->pin[u];

        if (k == MO_FREE) {
            k = room_bytes[order[0]] >= units->bytes[u] ? order[0] : order[1];
            room_bytes[k] -= units->bytes[u];
        }
        if (room_bytes[k] < 0)
            return false;
        for (int at = units->start[u]; at < units->start[u + 1]; at++)
            placement[units->ops[at]] = k;
    }
    return true;
}

static mo_status try_starts(const mo_frame *frame, const mo_memory_rows *rows,
                            const mo_paper_options *options, mo_schedule **best,
                            mo_error *err)
{
    int last = options->n_slots - 1;
    mo_status status = MO_OK;

    for (int s = 0; s <= last && status == MO_OK; s++) {
        const int order[2] = { options->device[s], options->device[last - s] };
        mo_schedule *alone = NULL, *both = NULL;

        status = mo_single_device_schedule(frame->given, &frame->regime,
                                           order[0], &alone, err);
        if (status == MO_OK) {
            /* both is NULL when not everything fits that way. */
            const mo_instance *x = frame->given;
            int *placement = calloc((size_t) x->n + 1, sizeof *placement);
            int64_t *room = calloc((size_t) x->n_devices + 1, sizeof *room);
            mo_placement_units *units = NULL;

            if (placement && room)
                status =
                    mo_placement_units_make(x, &frame->regime, &units, err);
            else
                status = mo_fail_memory(err);
            if (status == MO_OK) {
                mo_placement_units_free_bytes(x, units, room);
                if (place_units(units, order, room, placement))
                    status = mo_heft(x, &frame->regime, placement, &both, err);
            }
            mo_placement_units_free(units);
            free(room);
            free(placement);
        }
        keep_better(rows, best, alone);
        keep_better(rows, best, both);
    }
    return status;
}

/* The best start on the devices, or NULL; *upper_ns: its makespan, or the
 * serial makespan. */
static mo_status find_start(const mo_frame *frame,
                            const mo_paper_options *options, mo_schedule **best,
                            int64_t *upper_ns, mo_error *err)
{
    mo_memory_rows *rows;
    mo_status status = mo_memory_rows_new(frame, &rows, err);

    if (status != MO_OK)
        return status;
    status = try_starts(frame, rows, options, best, err);
    mo_memory_rows_free(rows);
    if (status != MO_OK)
        return status;
    if (!*best)
        return mo_serial_makespan(frame->given, &frame->regime, upper_ns, err);
    *upper_ns = (*best)->makespan_ns;
    return MO_OK;
}

/* Returns whether the frame has a start on these devices only. */
static bool has_fitting_start(const mo_frame *frame,
                              const mo_paper_options *options)
{
    const mo_schedule *s = frame->start;
    const int *device = options->device;

    for (int i = 0; s && i < s->n; i++)
        if (s->device[i] != device[0] &&
            s->device[i] != device[options->n_slots - 1])
            return false;
    return s;
}

/* *own is NULL where the frame will do. */
static mo_status make_frame(const mo_frame *frame,
                            const mo_paper_options *options, mo_frame **own,
                            mo_error *err)
{
    mo_schedule *start = NULL;
    int64_t upper_ns;
    mo_status status;

    *own = NULL;
    if (has_fitting_start(frame, options))
        return MO_OK;
    status = find_start(frame, options, &start, &upper_ns, err);
    if (status == MO_OK)
        return mo_frame_make_from(frame, start, upper_ns, own, err);
    mo_schedule_free(start);
    return status;
}

static mo_status prepare_pesto(const mo_frame *frame, void **state,
                               mo_error *err)
{
    int device[2];
    mo_paper_options options = { .device = device,
                                 .congestion = frame->regime.congestion };
    mo_frame *own = NULL;
    mo_paper *m;
    mo_status status;

    options.n_slots = choose_devices(frame->given, device);
    if (options.congestion == MO_CONGESTION_PORT)
        options.congestion = MO_CONGESTION_CHANNEL;
    status = refuse_pins(frame->given, device, options.n_slots, err);
    if (status == MO_OK)
        status = make_frame(frame, &options, &own, err);
    if (status == MO_OK)
        status = mo_paper_new(own ? own : frame, &options, &m, err);
    if (status != MO_OK) {
        mo_frame_free(own);
        return status;
    }
    m->own_frame = own;
    *state = m;
    return MO_OK;
}

static const mo_frame *frame_of(const void *state)
{
    return ((const mo_paper *) state)->frame;
}

const mo_formulation mo_formulation_pesto = {
    .name = "pesto",
    .help = "Pesto's program for the two fastest devices",
    .has_tensors_once = false,
    .has_regime = true,
    .prepare = prepare_pesto,
    .columns = mo_paper_columns,
    .rows = mo_paper_rows,
    .release = mo_paper_free,
    .frame = frame_of,
    .has_start = mo_paper_has_start,
};
