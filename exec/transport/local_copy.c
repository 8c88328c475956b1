/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "exec/transport/local_copy.h"

#include <stdlib.h>
#include <string.h>

#include "exec/thread/worker.h"

/* What is copied sooner than a courier is woken. */
enum { SMALL_BYTES = 32 << 10 };

/* Both ends set their bit; who takes a slot that has both, by clearing them,
 * copies it. */
enum { SENT = 1, EXPECTED = 2, READY = SENT | EXPECTED };

typedef struct slot {
    atomic_uint begun;
    atomic_uint done;   /* how often */
    unsigned wanted[2]; /* by end: how often it was begun there */
    const void *source;
    void *target;
    size_t bytes;
    int device[2]; /* by end */
    bool local;
} slot;

typedef struct seat {
    mo_eventcount bell;
    atomic_int waits_for; /* a transfer, or MO_PLAN_NONE */
    mo_thread_worker
        *courier; /* of what it receives; NULL: nothing from here */
} seat;

struct mo_transport_local_copy {
    slot *slots;
    seat *seats; /* by device */
    int n_slots, n_seats;
    mo_first_error *failure;
    mo_eventcount *server;
};

static bool copy_if_ready(slot *s)
{
    unsigned ready = READY;

    if (!atomic_compare_exchange_strong(&s->begun, &ready, 0))
        return false;
    if (s->bytes > 0)
        memcpy(s->target, s->source, s->bytes);
    return true;
}

void mo_transport_local_copy_complete(mo_transport_local_copy *post,
                                      int transfer)
{
    slot *s = &post->slots[transfer];

    atomic_fetch_add(&s->done, 1);
    mo_eventcount_notify(&post->seats[s->device[MO_TRANSPORT_SENDER]].bell);
    mo_eventcount_notify(&post->seats[s->device[MO_TRANSPORT_RECEIVER]].bell);
}

static void carry(void *context, int transfer)
{
    mo_transport_local_copy *post = context;

    if (copy_if_ready(&post->slots[transfer]))
        mo_transport_local_copy_complete(post, transfer);
}

/* ---------------------------------------------------------------- beginning */

/* Both ends have begun; end is the second. */
static void dispatch(mo_transport_local_copy *post, int transfer,
                     mo_transport_end end)
{
    slot *s = &post->slots[transfer];
    seat *other = &post->seats[s->device[1 - end]];

    if (s->bytes <= SMALL_BYTES)
        carry(post, transfer);
    else if (atomic_load(&other->waits_for) == transfer)
        mo_eventcount_notify(&other->bell);
    else
        mo_thread_worker_submit(
            post->seats[s->device[MO_TRANSPORT_RECEIVER]].courier, transfer);
}

static void begin(mo_transport_local_copy *post, int transfer,
                  mo_transport_end end, unsigned bit)
{
    slot *s = &post->slots[transfer];

    s->wanted[end]++;
    if (s->local && (atomic_fetch_or(&s->begun, bit) | bit) == READY)
        dispatch(post, transfer, end);
}

void mo_transport_local_copy_send(mo_transport_local_copy *post, int transfer,
                                  const void *data)
{
    post->slots[transfer].source = data;
    begin(post, transfer, MO_TRANSPORT_SENDER, SENT);
}

void mo_transport_local_copy_receive(mo_transport_local_copy *post,
                                     int transfer, void *data)
{
    post->slots[transfer].target = data;
    begin(post, transfer, MO_TRANSPORT_RECEIVER, EXPECTED);
}

/* ------------------------------------------------------------------ waiting */

typedef struct waiting {
    mo_transport_local_copy *post;
    slot *slot;
    mo_transport_end end;
} waiting;

static bool is_done(const waiting *w)
{
    return atomic_load(&w->slot->done) == w->slot->wanted[w->end];
}

static bool may_go_on(void *context)
{
    waiting *w = context;

    return is_done(w) || atomic_load(&w->slot->begun) == READY ||
           mo_first_error_is_set(w->post->failure);
}

mo_status mo_transport_local_copy_await(mo_transport_local_copy *post,
                                        int transfer, mo_transport_end end,
                                        mo_error *err)
{
    slot *s = &post->slots[transfer];
    seat *own = &post->seats[s->device[end]];
    waiting w = { post, s, end };

    if (is_done(&w))
        return MO_OK;
    atomic_store(&own->waits_for, transfer);
    if (!s->local)
        mo_eventcount_notify(post->server);
    while (!is_done(&w) && !mo_first_error_is_set(post->failure)) {
        mo_eventcount_wait(&own->bell, may_go_on, &w);
        carry(post, transfer);
    }
    atomic_store(&own->waits_for, MO_PLAN_NONE);
    return is_done(&w) ? MO_OK : mo_first_error_get(post->failure, err);
}

bool mo_transport_local_copy_has_waiters(mo_transport_local_copy *post)
{
    for (int d = 0; d < post->n_seats; d++)
        if (atomic_load(&post->seats[d].waits_for) != MO_PLAN_NONE)
            return true;
    return false;
}

void mo_transport_local_copy_notify_all(mo_transport_local_copy *post)
{
    for (int d = 0; d < post->n_seats; d++)
        mo_eventcount_notify(&post->seats[d].bell);
}

/* -------------------------------------------------------- making and ending */

bool mo_transport_local_copy_is_local(const mo_transport_local_copy *post,
                                      int transfer)
{
    return post->slots[transfer].local;
}

const void *mo_transport_local_copy_source(const mo_transport_local_copy *post,
                                           int transfer)
{
    return post->slots[transfer].source;
}

void *mo_transport_local_copy_target(const mo_transport_local_copy *post,
                                     int transfer)
{
    return post->slots[transfer].target;
}

static void fill_slot(slot *s, const mo_plan_transfer *transfer,
                      const bool *here)
{
    atomic_init(&s->begun, 0);
    atomic_init(&s->done, 0);
    s->bytes = (size_t) transfer->bytes;
    s->device[MO_TRANSPORT_SENDER] = transfer->from;
    s->device[MO_TRANSPORT_RECEIVER] = transfer->to;
    s->local = here[transfer->from] && here[transfer->to];
}

static mo_status hire_couriers(mo_transport_local_copy *post, mo_error *err)
{
    mo_status status = MO_OK;

    for (int t = 0; t < post->n_slots && status == MO_OK; t++) {
        slot *s = &post->slots[t];
        seat *receiver = &post->seats[s->device[MO_TRANSPORT_RECEIVER]];

        if (s->local && s->bytes > SMALL_BYTES && !receiver->courier)
            status = mo_thread_worker_new(post->n_slots, carry, post,
                                          &receiver->courier, err);
    }
    return status;
}

mo_status mo_transport_local_copy_new(const mo_exec_plan *plan,
                                      const bool *here, mo_first_error *failure,
                                      mo_eventcount *server,
                                      mo_transport_local_copy **post,
                                      mo_error *err)
{
    mo_transport_local_copy *p = calloc(1, sizeof *p);
    mo_status status;

    *post = NULL;
    if (!p)
        return mo_fail_memory(err);
    p->failure = failure;
    p->server = server;
    p->slots = calloc((size_t) plan->n_transfers + 1, sizeof *p->slots);
    p->seats = calloc((size_t) plan->n_devices + 1, sizeof *p->seats);
    if (!p->slots || !p->seats) {
        mo_transport_local_copy_free(p);
        return mo_fail_memory(err);
    }
    p->n_slots = plan->n_transfers;
    p->n_seats = plan->n_devices;
    for (int d = 0; d < p->n_seats; d++) {
        mo_eventcount_init(&p->seats[d].bell);
        atomic_init(&p->seats[d].waits_for, MO_PLAN_NONE);
    }
    for (int t = 0; t < p->n_slots; t++)
        fill_slot(&p->slots[t], &plan->transfers[t], here);
    status = hire_couriers(p, err);
    if (status != MO_OK)
        mo_transport_local_copy_free(p);
    else
        *post = p;
    return status;
}

void mo_transport_local_copy_free(mo_transport_local_copy *post)
{
    if (!post)
        return;
    /* All couriers first: one rings the bells of others' seats, too. */
    for (int d = 0; d < post->n_seats; d++)
        mo_thread_worker_free(post->seats[d].courier);
    for (int d = 0; d < post->n_seats; d++)
        mo_eventcount_destroy(&post->seats[d].bell);
    free(post->slots);
    free(post->seats);
    free(post);
}
