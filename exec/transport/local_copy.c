/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "exec/transport/local_copy.h"

#include <stdlib.h>
#include <string.h>

#include "exec/thread/worker.h"

/* Copying so few bytes takes less time than waking a worker. */
enum { SMALL_BYTES = 32 << 10 };

/* Each end sets its bit. The thread that clears both at once, by
 * compare-and-swap, does the copy. */
enum {
    SEND_POSTED = 1,
    RECEIVE_POSTED = 2,
    BOTH_POSTED = SEND_POSTED | RECEIVE_POSTED
};

typedef struct slot {
    atomic_uint posted;
    atomic_uint n_done;   /* number of completed transfers */
    unsigned n_posted[2]; /* by end: number of transfers posted there */
    const void *source;
    void *target;
    size_t bytes;
    int device[2]; /* by end */
    bool local;
} slot;

typedef struct device_state {
    mo_eventcount event;
    atomic_int waiting_for;   /* a transfer, or MO_PLAN_NONE */
    mo_thread_worker *worker; /* copies what the device receives; NULL: nothing
                                 from this process */
} device_state;

struct mo_transport_local_copy {
    slot *slots;
    device_state *devices; /* by device */
    int n_slots, n_devices;
    mo_first_error *failure;
    mo_eventcount *server_event;
};

void mo_transport_local_copy_complete(mo_transport_local_copy *copier,
                                      int transfer)
{
    slot *s = &copier->slots[transfer];

    atomic_fetch_add(&s->n_done, 1);
    mo_eventcount_notify(
        &copier->devices[s->device[MO_TRANSPORT_SENDER]].event);
    mo_eventcount_notify(
        &copier->devices[s->device[MO_TRANSPORT_RECEIVER]].event);
}

static void copy_transfer(void *context, int transfer)
{
    mo_transport_local_copy *copier = context;
    slot *s = &copier->slots[transfer];
    unsigned ready = BOTH_POSTED;

    if (!atomic_compare_exchange_strong(&s->posted, &ready, 0))
        return;
    if (s->bytes > 0)
        memcpy(s->target, s->source, s->bytes);
    mo_transport_local_copy_complete(copier, transfer);
}

static void post_end(mo_transport_local_copy *copier, int transfer,
                     mo_transport_end end, unsigned bit)
{
    slot *s = &copier->slots[transfer];
    device_state *other;

    s->n_posted[end]++;
    if (!s->local || (atomic_fetch_or(&s->posted, bit) | bit) != BOTH_POSTED)
        return;
    /* Both ends have posted; end is the second. */
    other = &copier->devices[s->device[1 - end]];
    if (s->bytes <= SMALL_BYTES)
        copy_transfer(copier, transfer);
    else if (atomic_load(&other->waiting_for) == transfer)
        mo_eventcount_notify(&other->event);
    else
        mo_thread_worker_submit(
            copier->devices[s->device[MO_TRANSPORT_RECEIVER]].worker, transfer);
}

void mo_transport_local_copy_send(mo_transport_local_copy *copier, int transfer,
                                  const void *data)
{
    copier->slots[transfer].source = data;
    post_end(copier, transfer, MO_TRANSPORT_SENDER, SEND_POSTED);
}

void mo_transport_local_copy_receive(mo_transport_local_copy *copier,
                                     int transfer, void *data)
{
    copier->slots[transfer].target = data;
    post_end(copier, transfer, MO_TRANSPORT_RECEIVER, RECEIVE_POSTED);
}

typedef struct wait_context {
    mo_transport_local_copy *copier;
    slot *slot;
    mo_transport_end end;
} wait_context;

static bool is_done(const wait_context *w)
{
    return atomic_load(&w->slot->n_done) == w->slot->n_posted[w->end];
}

static bool can_proceed(void *context)
{
    wait_context *w = context;

    return is_done(w) || atomic_load(&w->slot->posted) == BOTH_POSTED ||
           mo_first_error_is_set(w->copier->failure);
}

mo_status mo_transport_local_copy_await(mo_transport_local_copy *copier,
                                        int transfer, mo_transport_end end,
                                        mo_error *err)
{
    slot *s = &copier->slots[transfer];
    device_state *own = &copier->devices[s->device[end]];
    wait_context w = { copier, s, end };

    if (is_done(&w))
        return MO_OK;
    atomic_store(&own->waiting_for, transfer);
    if (!s->local)
        mo_eventcount_notify(copier->server_event);
    while (!is_done(&w) && !mo_first_error_is_set(copier->failure)) {
        mo_eventcount_wait(&own->event, can_proceed, &w);
        copy_transfer(copier, transfer);
    }
    atomic_store(&own->waiting_for, MO_PLAN_NONE);
    return is_done(&w) ? MO_OK : mo_first_error_get(copier->failure, err);
}

bool mo_transport_local_copy_is_done(mo_transport_local_copy *copier,
                                     int transfer, mo_transport_end end)
{
    const wait_context w = { copier, &copier->slots[transfer], end };

    return is_done(&w);
}

bool mo_transport_local_copy_has_waiters(mo_transport_local_copy *copier)
{
    for (int d = 0; d < copier->n_devices; d++)
        if (atomic_load(&copier->devices[d].waiting_for) != MO_PLAN_NONE)
            return true;
    return false;
}

void mo_transport_local_copy_notify_all(mo_transport_local_copy *copier)
{
    for (int d = 0; d < copier->n_devices; d++)
        mo_eventcount_notify(&copier->devices[d].event);
}

bool mo_transport_local_copy_is_local(const mo_transport_local_copy *copier,
                                      int transfer)
{
    return copier->slots[transfer].local;
}

const void *
mo_transport_local_copy_source(const mo_transport_local_copy *copier,
                               int transfer)
{
    return copier->slots[transfer].source;
}

void *mo_transport_local_copy_target(const mo_transport_local_copy *copier,
                                     int transfer)
{
    return copier->slots[transfer].target;
}

mo_status mo_transport_local_copy_new(const mo_exec_plan *plan,
                                      const bool *here, mo_first_error *failure,
                                      mo_eventcount *server_event,
                                      mo_transport_local_copy **copier,
                                      mo_error *err)
{
    mo_transport_local_copy *p = calloc(1, sizeof *p);
    mo_status status;

    *copier = NULL;
    if (!p)
        return mo_fail_memory(err);
    p->failure = failure;
    p->server_event = server_event;
    p->slots = calloc((size_t) plan->n_transfers + 1, sizeof *p->slots);
    p->devices = calloc((size_t) plan->n_devices + 1, sizeof *p->devices);
    if (!p->slots || !p->devices) {
        mo_transport_local_copy_free(p);
        return mo_fail_memory(err);
    }
    p->n_slots = plan->n_transfers;
    p->n_devices = plan->n_devices;
    for (int d = 0; d < p->n_devices; d++) {
        mo_eventcount_init(&p->devices[d].event);
        atomic_init(&p->devices[d].waiting_for, MO_PLAN_NONE);
    }
    for (int t = 0; t < p->n_slots; t++) {
        atomic_init(&p->slots[t].posted, 0);
        atomic_init(&p->slots[t].n_done, 0);
        p->slots[t].bytes = (size_t) plan->transfers[t].bytes;
        p->slots[t].device[MO_TRANSPORT_SENDER] = plan->transfers[t].from;
        p->slots[t].device[MO_TRANSPORT_RECEIVER] = plan->transfers[t].to;
        p->slots[t].local =
            here[plan->transfers[t].from] && here[plan->transfers[t].to];
    }

    status = MO_OK;

    for (int t = 0; t < p->n_slots && status == MO_OK; t++) {
        slot *s = &p->slots[t];
        device_state *receiver = &p->devices[s->device[MO_TRANSPORT_RECEIVER]];

        if (s->local && s->bytes > SMALL_BYTES && !receiver->worker)
            status = mo_thread_worker_new(p->n_slots, copy_transfer, p,
                                          &receiver->worker, err);
    }
    if (status != MO_OK)
        mo_transport_local_copy_free(p);
    else
        *copier = p;
    return status;
}

void mo_transport_local_copy_free(mo_transport_local_copy *copier)
{
    if (!copier)
        return;
    /* All workers first: a worker notifies the eventcounts of other devices,
     * too. */
    for (int d = 0; d < copier->n_devices; d++)
        mo_thread_worker_free(copier->devices[d].worker);
    for (int d = 0; d < copier->n_devices; d++)
        mo_eventcount_destroy(&copier->devices[d].event);
    free(copier->slots);
    free(copier->devices);
    free(copier);
}
