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
    mo_bell bell;
    atomic_int waits_for; /* a transfer, or MO_PLAN_NONE */
    mo_courier *courier;  /* of what it receives; NULL: nothing from here */
} seat;

struct mo_post {
    slot *slots;
    seat *seats; /* by device */
    int n_slots, n_seats;
    mo_failure *failure;
    mo_bell *server;
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

void mo_post_done(mo_post *post, int transfer)
{
    slot *s = &post->slots[transfer];

    atomic_fetch_add(&s->done, 1);
    mo_bell_ring(&post->seats[s->device[MO_SENDER]].bell);
    mo_bell_ring(&post->seats[s->device[MO_RECEIVER]].bell);
}

static void carry(void *context, int transfer)
{
    mo_post *post = context;

    if (copy_if_ready(&post->slots[transfer]))
        mo_post_done(post, transfer);
}

/* ---------------------------------------------------------------- beginning */

/* Both ends have begun; end is the second. */
static void dispatch(mo_post *post, int transfer, mo_end end)
{
    slot *s = &post->slots[transfer];
    seat *other = &post->seats[s->device[1 - end]];

    if (s->bytes <= SMALL_BYTES)
        carry(post, transfer);
    else if (atomic_load(&other->waits_for) == transfer)
        mo_bell_ring(&other->bell);
    else
        mo_courier_call(post->seats[s->device[MO_RECEIVER]].courier, transfer);
}

static void begin(mo_post *post, int transfer, mo_end end, unsigned bit)
{
    slot *s = &post->slots[transfer];

    s->wanted[end]++;
    if (s->local && (atomic_fetch_or(&s->begun, bit) | bit) == READY)
        dispatch(post, transfer, end);
}

void mo_post_send(mo_post *post, int transfer, const void *data)
{
    post->slots[transfer].source = data;
    begin(post, transfer, MO_SENDER, SENT);
}

void mo_post_receive(mo_post *post, int transfer, void *data)
{
    post->slots[transfer].target = data;
    begin(post, transfer, MO_RECEIVER, EXPECTED);
}

/* ------------------------------------------------------------------ waiting */

typedef struct waiting {
    mo_post *post;
    slot *slot;
    mo_end end;
} waiting;

static bool is_done(const waiting *w)
{
    return atomic_load(&w->slot->done) == w->slot->wanted[w->end];
}

static bool may_go_on(void *context)
{
    waiting *w = context;

    return is_done(w) || atomic_load(&w->slot->begun) == READY ||
           mo_failure_is(w->post->failure);
}

mo_status mo_post_await(mo_post *post, int transfer, mo_end end, mo_error *err)
{
    slot *s = &post->slots[transfer];
    seat *own = &post->seats[s->device[end]];
    waiting w = { post, s, end };

    if (is_done(&w))
        return MO_OK;
    atomic_store(&own->waits_for, transfer);
    if (!s->local)
        mo_bell_ring(post->server);
    while (!is_done(&w) && !mo_failure_is(post->failure)) {
        mo_bell_wait(&own->bell, may_go_on, &w);
        carry(post, transfer);
    }
    atomic_store(&own->waits_for, MO_PLAN_NONE);
    return is_done(&w) ? MO_OK : mo_failure_get(post->failure, err);
}

bool mo_post_is_awaited(mo_post *post)
{
    for (int d = 0; d < post->n_seats; d++)
        if (atomic_load(&post->seats[d].waits_for) != MO_PLAN_NONE)
            return true;
    return false;
}

void mo_post_wake(mo_post *post)
{
    for (int d = 0; d < post->n_seats; d++)
        mo_bell_ring(&post->seats[d].bell);
}

/* -------------------------------------------------------- making and ending */

bool mo_post_is_local(const mo_post *post, int transfer)
{
    return post->slots[transfer].local;
}

const void *mo_post_source(const mo_post *post, int transfer)
{
    return post->slots[transfer].source;
}

void *mo_post_target(const mo_post *post, int transfer)
{
    return post->slots[transfer].target;
}

static void fill_slot(slot *s, const mo_plan_transfer *transfer,
                      const bool *here)
{
    atomic_init(&s->begun, 0);
    atomic_init(&s->done, 0);
    s->bytes = (size_t) transfer->bytes;
    s->device[MO_SENDER] = transfer->from;
    s->device[MO_RECEIVER] = transfer->to;
    s->local = here[transfer->from] && here[transfer->to];
}

static mo_status hire_couriers(mo_post *post, mo_error *err)
{
    mo_status status = MO_OK;

    for (int t = 0; t < post->n_slots && status == MO_OK; t++) {
        slot *s = &post->slots[t];
        seat *receiver = &post->seats[s->device[MO_RECEIVER]];

        if (s->local && s->bytes > SMALL_BYTES && !receiver->courier)
            status = mo_courier_new(post->n_slots, carry, post,
                                    &receiver->courier, err);
    }
    return status;
}

mo_status mo_post_new(const mo_plan *plan, const bool *here,
                      mo_failure *failure, mo_bell *server, mo_post **post,
                      mo_error *err)
{
    mo_post *p = calloc(1, sizeof *p);
    mo_status status;

    *post = NULL;
    if (!p)
        return mo_fail_memory(err);
    p->failure = failure;
    p->server = server;
    p->slots = calloc((size_t) plan->n_transfers + 1, sizeof *p->slots);
    p->seats = calloc((size_t) plan->n_devices + 1, sizeof *p->seats);
    if (!p->slots || !p->seats) {
        mo_post_free(p);
        return mo_fail_memory(err);
    }
    p->n_slots = plan->n_transfers;
    p->n_seats = plan->n_devices;
    for (int d = 0; d < p->n_seats; d++) {
        mo_bell_init(&p->seats[d].bell);
        atomic_init(&p->seats[d].waits_for, MO_PLAN_NONE);
    }
    for (int t = 0; t < p->n_slots; t++)
        fill_slot(&p->slots[t], &plan->transfers[t], here);
    status = hire_couriers(p, err);
    if (status != MO_OK)
        mo_post_free(p);
    else
        *post = p;
    return status;
}

void mo_post_free(mo_post *post)
{
    if (!post)
        return;
    /* All couriers first: one rings the bells of others' seats, too. */
    for (int d = 0; d < post->n_seats; d++)
        mo_courier_free(post->seats[d].courier);
    for (int d = 0; d < post->n_seats; d++)
        mo_bell_destroy(&post->seats[d].bell);
    free(post->slots);
    free(post->seats);
    free(post);
}
