#include <config.h>

#include <poll.h>
#include <stdio.h>

#include "base/stop.h"
#include "exec/transport/rendezvous/address.h"
#include "exec/transport/rendezvous/handshake.h"

static const int64_t look_ns = 20000000, judge_ns = 1000000000;

static void tell(mo_star *star, mo_wire_kind kind, const char *text)
{
    for (int r = 0; r < star->job->n_ranks; r++)
        mo_wire_send(&star->wires[r], kind, text);
}

void mo_star_fail(mo_star *star, const mo_error *why)
{
    char text[MO_WIRE_TEXT];

    tell(star, MO_WIRE_FAIL, mo_error_format(why, text, sizeof text));
}

/* What this rank says, if it says anything. */
static void read_one(mo_star *star, int r, mo_error *why)
{
    mo_wire *wire = &star->wires[r];
    char text[MO_WIRE_TEXT];
    mo_wire_kind kind;
    bool closed = false;

    mo_wire_read(wire, &closed);
    while (mo_wire_take(wire, &kind, text, &closed)) {
        star->done[r] |= kind == MO_WIRE_BYE;
        if (kind == MO_WIRE_FAIL && why->status == MO_OK)
            mo_fail(why, MO_E_IO, "%s", text);
    }
    if (!closed)
        return;
    mo_wire_close(wire);
    if (!star->done[r] && why->status == MO_OK)
        mo_fail(why, MO_E_IO,
                "rank %d (host %s) is gone: it was killed, or has failed", r,
                star->cards[r].host);
}

bool mo_star_called_off(void *context, mo_error *why)
{
    mo_star *star = context;

    for (int r = 0; r < star->job->n_ranks; r++)
        if (star->wires[r].socket >= 0)
            read_one(star, r, why);
    if (why->status == MO_OK)
        return false;
    if (star->job->rank == 0)
        mo_star_fail(star, why);
    return true;
}

/* The first that is not; -1: all are. */
static int first_not_done(const mo_star *star)
{
    for (int r = 0; r < star->job->n_ranks; r++)
        if (r != star->job->rank && !star->done[r])
            return r;
    return -1;
}

static mo_status await_all(mo_star *star, int64_t deadline_ns, mo_error *err)
{
    mo_error why = { 0 };
    int r;

    for (;;) {
        int wait_ms = mo_address_left_ms(deadline_ns, look_ns);

        if (mo_star_called_off(star, &why)) {
            if (err)
                *err = why;
            return why.status;
        }
        r = first_not_done(star);
        if (r < 0)
            return MO_OK;
        if (wait_ms == 0)
            return mo_fail(err, MO_E_IO,
                           "rank %d (host %s) has not been heard of while all "
                           "ranks were being connected",
                           r, star->cards[r].host);
        poll(&(struct pollfd){ .fd = star->wires[r].socket, .events = POLLIN },
             1, wait_ms);
    }
}

void mo_star_judge(mo_star *star, mo_error *why)
{
    int64_t deadline_ns = mo_stop_clock_ns() + judge_ns;
    mo_wire *judge = &star->wires[0];
    mo_error verdict = { 0 };
    int wait_ms;

    mo_star_fail(star, why);
    if (star->job->rank == 0)
        return;
    while (judge->socket >= 0 && verdict.status == MO_OK &&
           (wait_ms = mo_address_left_ms(deadline_ns, look_ns)) > 0) {
        read_one(star, 0, &verdict);
        poll(&(struct pollfd){ .fd = judge->socket, .events = POLLIN }, 1,
             wait_ms);
    }
    /* Should it be gone without a word, ours is as good a guess as any. */
    if (verdict.status != MO_OK && judge->socket >= 0)
        *why = verdict;
}

mo_status mo_star_part(mo_star *star, int64_t deadline_ns, mo_error *err)
{
    bool host = star->job->rank == 0;
    mo_status status;

    if (!host)
        tell(star, MO_WIRE_BYE, NULL);
    status = await_all(star, deadline_ns, err);
    if (host && status == MO_OK)
        tell(star, MO_WIRE_BYE, NULL);
    return status;
}
