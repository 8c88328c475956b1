/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Load of each call with requests in flight: all slots repeat the same call at
 * the same time, in their own queues.
 *
 *     slot 0   |-a-|-a-|-a-|-a-|
 *     slot 1   |-a-|-a-|-a-|-a-|     load of a: time / (slots x repeats)
 *
 * A kernel that leaves most of the device idle has a load far below its
 * duration, and one that fills it has its duration: the ratio of the whole
 * network does not hold for a single call.
 */
#include <stdlib.h>

#include "base/minmax.h"
#include "base/stop.h"
#include "exec/runtime/joint/slots_internal.h"

enum {
    PROGRAM_NS = 40000, /* of a program, where MAX_REPEATS suffice */
    MAX_REPEATS = 16,   /* of a call in a program */
    /* Of a measurement, if the calls of all slots did not overlap. */
    MEASURED_NS = 4000000,
    SHORTEST_KERNEL_NS = 500 /* calls without a kernel take less */
};

/* Records, for each slot, a program of repeats of the call in one stream. */
static mo_status record_repeats(mo_joint_slots *s, int call, int repeats,
                                mo_backend_program **programs, mo_error *err)
{
    mo_backend_unit *unit = s->slots[0].devices[MO_JOINT_RECORDER].unit;
    mo_backend_program_call calls[MAX_REPEATS];
    mo_status status = MO_OK;

    for (int i = 0; i < s->n_slots && status == MO_OK; i++) {
        for (int r = 0; r < repeats; r++) {
            calls[r] = s->slots[i].joint.calls[call];
            calls[r].stream = 0;
            calls[r].n_deps = 0;
        }
        s->backend->use_slot(unit, i);
        status =
            s->backend->queue_record(unit, calls, repeats, &programs[i], err);
    }
    s->backend->use_slot(unit, 0);
    return status;
}

/* Replays the programs of all slots n times. Repeated calls overwrite inputs:
 * errors of indices are ignored. */
static mo_status replay_all(mo_joint_slots *s, mo_backend_program **programs,
                            int64_t n, mo_error *err)
{
    mo_status status = MO_OK;

    for (int64_t k = 0; k < n && status == MO_OK; k++)
        for (int i = 0; i < s->n_slots && status == MO_OK; i++)
            status = s->backend->queue_replay(s->slots[i].joint.queue,
                                              programs[i], err);
    for (int i = 0; i < s->n_slots; i++)
        (void) s->backend->queue_wait(s->slots[i].joint.queue, NULL);
    return status;
}

static mo_status measure_call(mo_joint_slots *s, int call, int64_t alone_ns,
                              mo_backend_program **programs, int64_t *load_ns,
                              mo_error *err)
{
    int64_t repeats =
        mo_min_i64(mo_ceil_div(PROGRAM_NS, alone_ns) + 1, MAX_REPEATS);
    int64_t program_ns = alone_ns * repeats * s->n_slots, begun_ns;
    int64_t n = mo_ceil_div(MEASURED_NS, program_ns);
    mo_status status = record_repeats(s, call, (int) repeats, programs, err);

    if (status == MO_OK)
        status = replay_all(s, programs, 1, err);
    begun_ns = mo_stop_clock_ns();
    if (status == MO_OK)
        status = replay_all(s, programs, n, err);
    *load_ns = (mo_stop_clock_ns() - begun_ns) / (n * repeats * s->n_slots);
    return status;
}

mo_status mo_joint_slots_time_calls(mo_joint_slots *s, int64_t *load_ns,
                                    mo_error *err)
{
    const mo_joint_state *j = &s->slots[0].joint;
    const mo_run_device *d = &s->slots[0].devices[MO_JOINT_RECORDER];
    mo_backend_program **programs =
        calloc((size_t) s->n_slots, sizeof(mo_backend_program *));
    mo_status status = programs ? MO_OK : mo_fail_memory(err);

    for (int i = 0; i < j->n_items && status == MO_OK; i++) {
        const mo_joint_item *item = &j->items[i];
        int64_t alone_ns, *load;

        if (item->kind != MO_JOINT_ITEM_CALL)
            continue;
        alone_ns = d->isolated_ns[item->action];
        load = &load_ns[d->actions[item->action].what];
        *load = alone_ns;
        if (alone_ns < SHORTEST_KERNEL_NS)
            continue;
        status = measure_call(s, item->call, alone_ns, programs, load, err);
        for (int k = 0; k < s->n_slots; k++) {
            if (programs[k])
                s->backend->free_program(d->unit, programs[k]);
            programs[k] = NULL;
        }
    }
    free(programs);
    return status;
}
