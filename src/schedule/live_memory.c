/* SPDX-License-Identifier: Apache-2.0 */
#include "schedule/live_memory.h"

#include <stdbool.h>
#include <stdlib.h>

#include "base/array.h"

/* Events at one moment are processed in this order. */
typedef enum phase {
    FREED,
    ALLOCATED,
    SPIKE /* workspace of an op that takes no time */
} phase;

typedef struct event {
    int device;
    phase phase;
    bool work; /* workspace: at most one op of a device uses it at a time */
    int64_t at_ns, bytes;
} event;

typedef struct event_list {
    const mo_instance *x;
    const mo_schedule *s;
    event *events;
    size_t n, room;
    int64_t total_bytes; /* of all allocations so far, for the overflow check */
    int64_t *copy_end_ns; /* by transfer: release of its last reader */
    int64_t period_ns;    /* of the repetition; 0: there is none */
    int64_t *begin_bytes; /* by device: held when a period begins, and in use
                             as workspace from n_devices on */
} event_list;

static mo_status count_bytes(event_list *l, int64_t bytes, mo_error *err)
{
    if (mo_int64_add(l->total_bytes, bytes, &l->total_bytes))
        return MO_OK;
    return mo_fail(err, MO_E_INPUT,
                   "all ops and tensors together need more than 2^63 bytes");
}

/* Adds the events of [from, to); one of no length is a spike of workspace. */
static mo_status add_lifetime(event_list *l, int device, bool work,
                              int64_t from_ns, int64_t to_ns, int64_t bytes,
                              mo_error *err)
{
    bool is_spike = work && from_ns == to_ns;
    int64_t held_bytes = 0;
    mo_status status;

    if (bytes <= 0)
        return MO_OK;
    if (l->period_ns > 0) {
        /* The number of repetitions of [from, to) that hold the last moment
         * before a period begins. */
        if (!mo_int64_mul(bytes, to_ns / l->period_ns - from_ns / l->period_ns,
                          &held_bytes))
            held_bytes = INT64_MAX;
        from_ns %= l->period_ns;
        to_ns %= l->period_ns;
    }
    status = count_bytes(l, held_bytes, err);
    if (status == MO_OK)
        status = count_bytes(l, bytes, err);
    if (status == MO_OK)
        status = mo_array_reserve((void **) &l->events, &l->room, l->n + 2,
                                  sizeof *l->events, err);
    if (status != MO_OK)
        return status;
    if (is_spike) {
        l->events[l->n++] = (event){ device, SPIKE, work, from_ns, bytes };
        return MO_OK;
    }
    l->begin_bytes[device + (work ? l->x->n_devices : 0)] += held_bytes;
    l->events[l->n++] = (event){ device, ALLOCATED, work, from_ns, bytes };
    l->events[l->n++] = (event){ device, FREED, work, to_ns, -bytes };
    return MO_OK;
}

static int64_t end_of_op(const event_list *l, int op)
{
    return l->s->start_ns[op] + mo_instance_p_ns(l->x, op, l->s->device[op]);
}

/* Returns the time from which on buffers that the op used may be freed. */
static int64_t release_of_op(const event_list *l, int op)
{
    int64_t end_ns = end_of_op(l, op);

    return end_ns > l->s->start_ns[op] ? end_ns : end_ns + 1;
}

static mo_status add_op(event_list *l, int op, int64_t *weights_bytes,
                        mo_error *err)
{
    const mo_instance *x = l->x;
    int device = l->s->device[op];
    mo_status status = count_bytes(l, x->weight_bytes[op], err);

    if (status != MO_OK)
        return status;
    weights_bytes[device] += x->weight_bytes[op];
    return add_lifetime(l, device, true, l->s->start_ns[op], end_of_op(l, op),
                        x->memory_bytes[op] - x->weight_bytes[op], err);
}

static void raise_to(int64_t *ns, int64_t to_ns)
{
    if (*ns < to_ns)
        *ns = to_ns;
}

/* Adds the lifetime of the tensor on its producer's device; raises copy_end_ns
 * of its copies to the ends of their readers. */
static mo_status add_tensor_lifetime(event_list *l, int tensor, mo_error *err)
{
    const mo_instance *x = l->x;
    const mo_schedule *s = l->s;
    bool once = s->regime.tensors == MO_TENSORS_ONCE;
    int from = x->tensor_from[tensor], home = s->device[from];
    int64_t end_ns = release_of_op(l, from);

    for (int q = x->tensor_start[tensor]; q < x->tensor_start[tensor + 1];
         q++) {
        int reader = x->flows[q].to;
        const mo_transfer *t =
            mo_schedule_transfer(s, once ? tensor : q, s->device[reader]);

        raise_to(&end_ns, t ? t->end_ns : release_of_op(l, reader));
        if (t)
            raise_to(&l->copy_end_ns[t - s->transfers],
                     release_of_op(l, reader));
    }
    return add_lifetime(l, home, false, s->start_ns[from], end_ns,
                        x->tensor_bytes[tensor], err);
}

static mo_status add_all(event_list *l, int64_t *weights_bytes, mo_error *err)
{
    mo_status status = MO_OK;

    for (int i = 0; i < l->s->n && status == MO_OK; i++)
        status = add_op(l, i, weights_bytes, err);
    for (int t = 0; t < l->x->n_tensors && status == MO_OK; t++)
        status = add_tensor_lifetime(l, t, err);
    for (int c = 0; c < l->s->n_transfers && status == MO_OK; c++) {
        const mo_instance *x = l->x;
        const mo_transfer *t = &l->s->transfers[c];
        int tensor = mo_schedule_tensor(x, l->s, t);
        status = add_lifetime(l, t->to, false, t->start_ns, l->copy_end_ns[c],
                              x->tensor_bytes[tensor], err);
    }
    return status;
}

static int compare_events(const void *a, const void *b)
{
    const event *v = a, *w = b;

    if (v->device != w->device)
        return v->device < w->device ? -1 : 1;
    if (v->at_ns != w->at_ns)
        return v->at_ns < w->at_ns ? -1 : 1;
    return (v->phase > w->phase) - (v->phase < w->phase);
}

/* Sweeps the events by device and time and raises the peaks, which hold the
 * weights so far, by the largest sum of live bytes. */
static void sweep_peaks(event_list *l, int64_t *peak_bytes)
{
    size_t at = 0;

    if (l->n > 0)
        qsort(l->events, l->n, sizeof *l->events, compare_events);
    while (at < l->n) {
        int device = l->events[at].device;
        int64_t held = l->begin_bytes[device];
        int64_t work = l->begin_bytes[l->x->n_devices + device], most = 0;

        for (; at < l->n && l->events[at].device == device; at++) {
            const event *e = &l->events[at];

            if (e->phase == SPIKE) {
                raise_to(&most, held + (e->bytes > work ? e->bytes : work));
                continue;
            }
            *(e->work ? &work : &held) += e->bytes;
            raise_to(&most, held + work);
        }
        peak_bytes[device] += most;
    }
}

/* period_ns 0: no repetition. */
static mo_status find_peaks(const mo_instance *x, const mo_schedule *s,
                            int64_t period_ns, int64_t *peak_bytes,
                            mo_error *err)
{
    event_list l = { .x = x, .s = s, .period_ns = period_ns };
    size_t n_devices = (size_t) x->n_devices;
    mo_status status;

    for (int k = 0; k < x->n_devices; k++)
        peak_bytes[k] = 0;
    l.copy_end_ns = calloc((size_t) s->n_transfers + 1, sizeof *l.copy_end_ns);
    l.begin_bytes = calloc(2 * n_devices + 1, sizeof *l.begin_bytes);
    status = l.copy_end_ns && l.begin_bytes ? add_all(&l, peak_bytes, err)
                                            : mo_fail_memory(err);
    if (status == MO_OK)
        sweep_peaks(&l, peak_bytes);
    free(l.events);
    free(l.copy_end_ns);
    free(l.begin_bytes);
    return status;
}

mo_status mo_live_memory_peak(const mo_instance *x, const mo_schedule *s,
                              int64_t *peak_bytes, mo_error *err)
{
    return find_peaks(x, s, 0, peak_bytes, err);
}

mo_status mo_live_memory_periodic_peak(const mo_instance *x,
                                       const mo_schedule *s, int64_t period_ns,
                                       int64_t *peak_bytes, mo_error *err)
{
    return find_peaks(x, s, period_ns, peak_bytes, err);
}

static mo_status add_point(mo_memory_profile *profile, int device,
                           int64_t at_ns, int64_t bytes, mo_error *err)
{
    mo_status status =
        MO_ARRAY_GROW(profile->points, profile->n, profile->room, err);

    if (status == MO_OK)
        profile->points[profile->n++] =
            (mo_memory_point){ device, at_ns, bytes };
    return status;
}

/* Adds the points of a device from the event at *at on, which is advanced
 * behind its last one. */
static mo_status profile_device(const event_list *l, int device,
                                int64_t weights_bytes, size_t *at,
                                mo_memory_profile *profile, mo_error *err)
{
    int64_t held = weights_bytes, work = 0;
    mo_status status = add_point(profile, device, 0, held, err);

    while (status == MO_OK && *at < l->n && l->events[*at].device == device) {
        int64_t now_ns = l->events[*at].at_ns, most = 0;

        for (; *at < l->n && l->events[*at].device == device &&
               l->events[*at].at_ns == now_ns;
             (*at)++) {
            const event *e = &l->events[*at];
            int64_t spike = e->phase == SPIKE && e->bytes > work ? e->bytes : 0;

            if (e->phase != SPIKE)
                *(e->work ? &work : &held) += e->bytes;
            raise_to(&most, held + (spike > work ? spike : work));
        }
        if (most > held + work)
            status = add_point(profile, device, now_ns, most, err);
        if (status == MO_OK)
            status = add_point(profile, device, now_ns, held + work, err);
    }
    return status;
}

static mo_status profile_live(const mo_instance *x, const mo_schedule *s,
                              int64_t *weights_bytes,
                              mo_memory_profile *profile, mo_error *err)
{
    event_list l = { .x = x, .s = s };
    size_t at = 0;
    mo_status status;

    l.copy_end_ns = calloc((size_t) s->n_transfers + 1, sizeof *l.copy_end_ns);
    l.begin_bytes =
        calloc(2 * (size_t) x->n_devices + 1, sizeof *l.begin_bytes);
    status = l.copy_end_ns && l.begin_bytes ? add_all(&l, weights_bytes, err)
                                            : mo_fail_memory(err);
    if (status == MO_OK && l.n > 0)
        qsort(l.events, l.n, sizeof *l.events, compare_events);
    for (int k = 0; k < x->n_devices && status == MO_OK; k++)
        status = profile_device(&l, k, weights_bytes[k], &at, profile, err);
    free(l.events);
    free(l.copy_end_ns);
    free(l.begin_bytes);
    return status;
}

mo_status mo_live_memory_profile(const mo_instance *x, const mo_schedule *s,
                                 mo_memory_profile *profile, mo_error *err)
{
    int64_t *bytes = calloc((size_t) x->n_devices, sizeof *bytes);
    mo_status status = bytes ? MO_OK : mo_fail_memory(err);

    *profile = (mo_memory_profile){ 0 };
    if (status == MO_OK && s->regime.memory == MO_MEMORY_LIVE) {
        status = profile_live(x, s, bytes, profile, err);
    } else if (status == MO_OK) {
        status = mo_schedule_peak_memory(x, s, bytes, err);
        for (int k = 0; k < x->n_devices && status == MO_OK; k++)
            status = add_point(profile, k, 0, bytes[k], err);
    }
    free(bytes);
    return status;
}
