/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Control connections while the mesh is built: error broadcast, agreement on
 * the first cause, completion.
 */
#include <config.h>

#include <poll.h>
#include <stdio.h>

#include "base/stop.h"
#include "exec/transport/rendezvous/address.h"
#include "exec/transport/rendezvous/handshake.h"

static const int64_t poll_ns = 20000000, verdict_ns = 1000000000;

static void broadcast_msg(mo_rdv_control *control, mo_rdv_msg_kind kind,
                          const char *text)
{
    for (int r = 0; r < control->params->n_ranks; r++)
        mo_rdv_msg_send(&control->channels[r], kind, text);
}

void mo_rdv_control_broadcast_error(mo_rdv_control *control,
                                    const mo_error *why)
{
    char text[MO_RDV_MSG_TEXT_SIZE];

    broadcast_msg(control, MO_RDV_MSG_ERROR,
                  mo_error_format(why, text, sizeof text));
}

/* Reads pending messages of rank r; *why receives the first error. */
static void read_channel(mo_rdv_control *control, int r, mo_error *why)
{
    mo_rdv_msg_channel *channel = &control->channels[r];
    char text[MO_RDV_MSG_TEXT_SIZE];
    mo_rdv_msg_kind kind;
    bool closed = false;

    mo_rdv_msg_receive(channel, &closed);
    while (mo_rdv_msg_next(channel, &kind, text, &closed)) {
        control->done[r] |= kind == MO_RDV_MSG_DONE;
        if (kind == MO_RDV_MSG_ERROR && why->status == MO_OK)
            mo_fail(why, MO_E_IO, "%s", text);
    }
    if (!closed)
        return;
    mo_rdv_msg_channel_close(channel);
    if (!control->done[r] && why->status == MO_OK)
        mo_fail(why, MO_E_IO,
                "rank %d (host %s) is gone: it was killed, or has failed", r,
                control->endpoints[r].host);
}

bool mo_rdv_control_is_aborted(void *context, mo_error *why)
{
    mo_rdv_control *control = context;

    const mo_rdv_join_options *o = control->options;

    for (int r = 0; r < control->params->n_ranks; r++) {
        if (control->channels[r].conn)
            read_channel(control, r, why);
        /* The others hear of it from rank 0. */
        if ((control->params->rank == 0 || r == 0) && o->is_lost &&
            why->status == MO_OK && o->is_lost(o->context, control->origins[r]))
            mo_fail(why, MO_E_IO, "rank %d (host %s) is lost",
                    control->origins[r], control->endpoints[r].host);
    }
    if (why->status == MO_OK)
        return false;
    if (control->params->rank == 0)
        mo_rdv_control_broadcast_error(control, why);
    return true;
}

static mo_status wait_for_all(mo_rdv_control *control, int64_t deadline_ns,
                              mo_error *err)
{
    int own = control->params->rank, n_ranks = control->params->n_ranks;
    mo_error why = { 0 };

    for (;;) {
        int r = 0;
        int wait_ms = mo_rdv_timeout_ms(deadline_ns, poll_ns);

        if (mo_rdv_control_is_aborted(control, &why)) {
            if (err)
                *err = why;
            return why.status;
        }
        while (r < n_ranks && (r == own || control->done[r]))
            r++;
        if (r == n_ranks)
            return MO_OK;
        if (wait_ms == 0)
            return mo_fail(err, MO_E_IO,
                           "rank %d (host %s) has sent nothing while all "
                           "ranks were being connected",
                           r, control->endpoints[r].host);
        poll(&(struct pollfd){ .fd = mo_rdv_msg_channel_socket(
                                   &control->channels[r]),
                               .events = POLLIN },
             1, wait_ms);
    }
}

void mo_rdv_control_resolve_error(mo_rdv_control *control, mo_error *why)
{
    int64_t deadline_ns = mo_stop_clock_ns() + verdict_ns;
    mo_rdv_msg_channel *server = &control->channels[0];
    mo_error verdict = { 0 };
    int wait_ms;

    mo_rdv_control_broadcast_error(control, why);
    if (control->params->rank == 0)
        return;
    while (server->conn && verdict.status == MO_OK &&
           (wait_ms = mo_rdv_timeout_ms(deadline_ns, poll_ns)) > 0) {
        read_channel(control, 0, &verdict);
        poll(&(struct pollfd){ .fd = mo_rdv_msg_channel_socket(server),
                               .events = POLLIN },
             1, wait_ms);
    }
    /* If rank 0 is gone without a message, this rank's error stands. */
    if (verdict.status != MO_OK && server->conn)
        *why = verdict;
}

mo_status mo_rdv_control_finish(mo_rdv_control *control, int64_t deadline_ns,
                                mo_error *err)
{
    bool is_server = control->params->rank == 0;
    mo_status status;

    if (!is_server)
        broadcast_msg(control, MO_RDV_MSG_DONE, NULL);
    status = wait_for_all(control, deadline_ns, err);
    if (is_server && status == MO_OK)
        broadcast_msg(control, MO_RDV_MSG_DONE, NULL);
    return status;
}
