/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include <poll.h>
#include <stdio.h>

#include "base/stop.h"
#include "exec/transport/rendezvous/address.h"
#include "exec/transport/rendezvous/handshake.h"

static const int64_t look_ns = 20000000, judge_ns = 1000000000;

static void tell(mo_rdv_control *star, mo_rdv_msg_kind kind, const char *text)
{
    for (int r = 0; r < star->job->n_ranks; r++)
        mo_rdv_msg_send(&star->wires[r], kind, text);
}

void mo_rdv_control_broadcast_error(mo_rdv_control *star, const mo_error *why)
{
    char text[MO_RDV_MSG_TEXT_SIZE];

    tell(star, MO_RDV_MSG_ERROR, mo_error_format(why, text, sizeof text));
}

/* What this rank says, if it says anything. */
static void read_one(mo_rdv_control *star, int r, mo_error *why)
{
    mo_rdv_msg_channel *wire = &star->wires[r];
    char text[MO_RDV_MSG_TEXT_SIZE];
    mo_rdv_msg_kind kind;
    bool closed = false;

    mo_rdv_msg_receive(wire, &closed);
    while (mo_rdv_msg_next(wire, &kind, text, &closed)) {
        star->done[r] |= kind == MO_RDV_MSG_DONE;
        if (kind == MO_RDV_MSG_ERROR && why->status == MO_OK)
            mo_fail(why, MO_E_IO, "%s", text);
    }
    if (!closed)
        return;
    mo_rdv_msg_channel_close(wire);
    if (!star->done[r] && why->status == MO_OK)
        mo_fail(why, MO_E_IO,
                "rank %d (host %s) is gone: it was killed, or has failed", r,
                star->cards[r].host);
}

bool mo_rdv_control_is_aborted(void *context, mo_error *why)
{
    mo_rdv_control *star = context;

    for (int r = 0; r < star->job->n_ranks; r++)
        if (star->wires[r].socket >= 0)
            read_one(star, r, why);
    if (why->status == MO_OK)
        return false;
    if (star->job->rank == 0)
        mo_rdv_control_broadcast_error(star, why);
    return true;
}

/* The first that is not; -1: all are. */
static int first_not_done(const mo_rdv_control *star)
{
    for (int r = 0; r < star->job->n_ranks; r++)
        if (r != star->job->rank && !star->done[r])
            return r;
    return -1;
}

static mo_status await_all(mo_rdv_control *star, int64_t deadline_ns,
                           mo_error *err)
{
    mo_error why = { 0 };
    int r;

    for (;;) {
        int wait_ms = mo_rdv_timeout_ms(deadline_ns, look_ns);

        if (mo_rdv_control_is_aborted(star, &why)) {
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

void mo_rdv_control_resolve_error(mo_rdv_control *star, mo_error *why)
{
    int64_t deadline_ns = mo_stop_clock_ns() + judge_ns;
    mo_rdv_msg_channel *judge = &star->wires[0];
    mo_error verdict = { 0 };
    int wait_ms;

    mo_rdv_control_broadcast_error(star, why);
    if (star->job->rank == 0)
        return;
    while (judge->socket >= 0 && verdict.status == MO_OK &&
           (wait_ms = mo_rdv_timeout_ms(deadline_ns, look_ns)) > 0) {
        read_one(star, 0, &verdict);
        poll(&(struct pollfd){ .fd = judge->socket, .events = POLLIN }, 1,
             wait_ms);
    }
    /* Should it be gone without a word, ours is as good a guess as any. */
    if (verdict.status != MO_OK && judge->socket >= 0)
        *why = verdict;
}

mo_status mo_rdv_control_finish(mo_rdv_control *star, int64_t deadline_ns,
                                mo_error *err)
{
    bool host = star->job->rank == 0;
    mo_status status;

    if (!host)
        tell(star, MO_RDV_MSG_DONE, NULL);
    status = await_all(star, deadline_ns, err);
    if (host && status == MO_OK)
        tell(star, MO_RDV_MSG_DONE, NULL);
    return status;
}
