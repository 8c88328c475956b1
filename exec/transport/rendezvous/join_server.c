/* SPDX-License-Identifier: Apache-2.0 */
/* Server side of the rendezvous: rank 0 accepts the other ranks and sends them
 * all endpoints. handshake.h has the messages. */
#include <config.h>

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/stop.h"
#include "exec/transport/rendezvous/decode.h"
#include "exec/transport/rendezvous/handshake.h"
#include "exec/transport/rendezvous/pending_conns.h"

/* Poll interval; time to send the endpoints to all clients. */
static const int64_t poll_ns = 20000000, send_ns = 2000000000;
/* Time in which late clients still receive the reason of a failure. */
static const int64_t notify_ns = 2000000000;

enum { PREAMBLE, HELLO };

/* Limits the messages about refused connections. */
enum { MAX_NOTES = 16 };

typedef struct server {
    const mo_rdv_params *params;
    const mo_rdv_join_options *options;
    mo_rdv_endpoint *endpoints;
    mo_secure_channel **channels;       /* by rank */
    mo_secure_credentials *credentials; /* NULL: no security */
    mo_rdv_preamble preamble;
    int64_t deadline_ns;
    char last_refused[MO_RDV_REASON_BYTES]; /* the last refused connection, and
                                               why; or empty */
    bool last_noted;                        /* options->note has received it */
    int n_notes;
    bool *notified; /* by rank: it has received the reason of the failure */
    char failure_text[MO_RDV_REASON_BYTES]; /* the reason; or empty */
} server;

_Static_assert(sizeof(mo_rdv_hello) <= MO_RDV_PENDING_BYTES, "a hello fits");
_Static_assert(sizeof(mo_rdv_preamble) <= MO_RDV_PENDING_BYTES,
               "a preamble fits");

static void send_verdict(mo_secure_channel *channel, bool refused,
                         const char *text)
{
    mo_rdv_verdict verdict = { .refused = refused };

    snprintf(verdict.text, sizeof verdict.text, "%s", text);
    mo_rdv_send_all(channel, &verdict, sizeof verdict, 0);
}

/* Sends the reason to options->note, and to the client if its hello has
 * arrived. */
static mo_rdv_pending_action refuse(server *s, const mo_rdv_pending_conn *conn,
                                    uint32_t rank, const char *format, ...)
{
    char text[MO_RDV_REASON_BYTES], why[MO_RDV_REASON_BYTES / 2];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(why, sizeof why, format, arguments);
    va_end(arguments);
    snprintf(text, sizeof text, "rank %u at %s %s", (unsigned) rank,
             conn->address, why);
    if (conn->stage == HELLO)
        send_verdict(conn->channel, true, text);
    snprintf(s->last_refused, sizeof s->last_refused, "%s", text);
    s->last_noted = s->options->note && s->n_notes++ < MAX_NOTES;
    if (s->last_noted)
        s->options->note(text);
    return MO_RDV_PENDING_CLOSE;
}

static mo_rdv_pending_action check_preamble(server *s,
                                            const mo_rdv_pending_conn *conn,
                                            const mo_rdv_preamble *p)
{
    static const char *const names[] = { "has neither token nor certificate",
                                         "has a token", "has a certificate" };

    if (p->order != MO_RDV_BYTE_ORDER_MARK)
        return refuse(s, conn, p->rank,
                      "has another order of bytes: ranks must be machines of "
                      "one kind");
    if (p->version != MO_RDV_PROTOCOL_VERSION ||
        p->security > MO_RDV_SECURITY_CERTIFICATE)
        return refuse(s, conn, p->rank,
                      "is another version of moirai: use the same everywhere");
    if (p->security != s->preamble.security)
        return refuse(s, conn, p->rank, "%s, but rank 0 %s", names[p->security],
                      names[s->preamble.security]);
    return MO_RDV_PENDING_KEEP;
}

static mo_rdv_pending_action handle_preamble(server *s,
                                             mo_rdv_pending_conn *conn)
{
    mo_rdv_preamble p;
    mo_rdv_pending_action action;

    memcpy(&p, conn->bytes, sizeof p);
    if (memcmp(p.magic, mo_rdv_magic, sizeof mo_rdv_magic) != 0 ||
        mo_rdv_is_other_user(mo_secure_channel_socket(conn->channel)) ||
        !mo_rdv_send_all(conn->channel, &s->preamble, sizeof s->preamble, 0))
        return MO_RDV_PENDING_CLOSE;
    action = check_preamble(s, conn, &p);
    if (action != MO_RDV_PENDING_KEEP)
        return action;
    if (s->credentials &&
        mo_secure_channel_start(conn->channel, s->credentials, MO_SECURE_SERVER,
                                NULL, NULL) != MO_OK)
        return MO_RDV_PENDING_NO_MEMORY;
    memcpy(conn->state, &p, sizeof p);
    conn->stage = HELLO;
    conn->wanted = sizeof(mo_rdv_hello);
    return MO_RDV_PENDING_KEEP;
}

static void handle_failure(void *context, mo_rdv_pending_conn *conn,
                           const mo_error *why)
{
    mo_rdv_preamble p;

    memcpy(&p, conn->state, sizeof p);
    conn->stage = PREAMBLE; /* no verdict can be sent */
    if (why->status == MO_E_INPUT)
        refuse(context, conn, p.rank, "%s",
               mo_secure_channel_failure(conn->channel));
}

/* Checks the hello; returns MO_RDV_PENDING_KEEP when it is valid. */
static mo_rdv_pending_action check_hello(server *s,
                                         const mo_rdv_pending_conn *conn,
                                         const mo_rdv_hello *hello)
{
    const mo_rdv_params *params = s->params;
    char job[MO_RDV_JOB_NAME_SIZE], identity[MO_SECURE_IDENTITY_SIZE];

    if (hello->endpoint_bytes != sizeof hello->endpoint)
        return refuse(s, conn, hello->rank,
                      "is another version of moirai: use the same everywhere");
    mo_rdv_format_job(params, job);
    if (memcmp(job, hello->job, sizeof job) != 0)
        return refuse(s, conn, hello->rank,
                      "is of another job: choose another port for one of them "
                      "with --master HOST:PORT");
    mo_rdv_format_identity(identity, hello->rank, hello->n_ranks);
    if (s->preamble.security == MO_RDV_SECURITY_TOKEN &&
        strcmp(identity, mo_secure_channel_identity(conn->channel)) != 0)
        return refuse(s, conn, hello->rank,
                      "has authenticated as another rank");
    if (hello->n_ranks != (uint32_t) params->n_ranks)
        return refuse(s, conn, hello->rank, "was given %u ranks, but rank 0 %d",
                      (unsigned) hello->n_ranks, params->n_ranks);
    if (hello->rank == 0 || hello->rank >= hello->n_ranks)
        return refuse(s, conn, hello->rank, "is none of 1 to %d",
                      params->n_ranks - 1);
    if ((hello->plain_values != 0) != params->plain)
        return refuse(s, conn, hello->rank,
                      "was %s --plain, but rank 0 was%s: give it to all ranks, "
                      "or to none",
                      hello->plain_values ? "given" : "not given",
                      params->plain ? "" : " not");
    if (s->options->is_lost &&
        s->options->is_lost(s->options->context, (int) hello->rank))
        return refuse(s, conn, hello->rank,
                      "was lost, and the job goes on without it");
    if (s->channels[hello->rank])
        return refuse(s, conn, hello->rank,
                      "has come already, from host %s: give each process a "
                      "rank of its own",
                      s->endpoints[hello->rank].host);
    return MO_RDV_PENDING_KEEP;
}

static mo_rdv_pending_action handle_hello(server *s, mo_rdv_pending_conn *conn)
{
    mo_rdv_pending_action action;
    mo_error why = { 0 };
    mo_rdv_hello hello;

    memcpy(&hello, conn->bytes, sizeof hello);
    action = check_hello(s, conn, &hello);
    if (action != MO_RDV_PENDING_KEEP)
        return action;
    if (*s->failure_text) {
        send_verdict(conn->channel, true, s->failure_text);
        s->notified[hello.rank] = true;
        return MO_RDV_PENDING_CLOSE;
    }
    if (mo_rdv_decode_endpoint(&hello.endpoint, sizeof hello.endpoint,
                               &s->endpoints[hello.rank], &why) != MO_OK)
        return refuse(s, conn, hello.rank,
                      "sends %s: use the same moirai everywhere", why.text);
    s->channels[hello.rank] = conn->channel;

    /* The other ranks first try the address that the client connects from. */
    mo_rdv_endpoint *endpoint = &s->endpoints[hello.rank];
    int socket = mo_secure_channel_socket(conn->channel);
    struct sockaddr_storage from;
    socklen_t length = sizeof from;
    uint8_t address[MO_RDV_ADDRESS_BYTES];

    if (*endpoint->network &&
        getpeername(socket, (struct sockaddr *) &from, &length) == 0 &&
        mo_rdv_address_from_sockaddr((struct sockaddr *) &from, address) &&
        !mo_rdv_address_is_loopback(address))
        mo_rdv_endpoint_prefer_address(endpoint, address);
    send_verdict(conn->channel, false, "");
    return MO_RDV_PENDING_ACCEPTED;
}

static mo_rdv_pending_action handle_message(void *context,
                                            mo_rdv_pending_conn *conn)
{
    return conn->stage == PREAMBLE ? handle_preamble(context, conn)
                                   : handle_hello(context, conn);
}

/* Fails because a rank is missing. The last refused connection is the likely
 * cause: the other ranks receive it, and the error of rank 0 contains it unless
 * options->note has reported it already. */
static mo_status fail_missing(server *s, int missing, mo_error *err)
{
    char address_text[MO_RDV_HOST_SIZE + 16];
    mo_error why = { 0 };

    mo_rdv_format_master(s->params, address_text);
    if (*s->last_refused) {
        mo_fail(&why, MO_E_IO,
                "rank %d has never come to rank 0 at %s within %g s; refused "
                "was: %s",
                missing, address_text, s->options->seconds, s->last_refused);
        mo_error_format(&why, s->failure_text, sizeof s->failure_text);
        if (!s->last_noted)
            return mo_fail(err, MO_E_IO, "%s", why.text);
        return mo_fail(err, MO_E_IO,
                       "rank %d has never come to rank 0 at %s within %g s: "
                       "see the refusal above",
                       missing, address_text, s->options->seconds);
    }
    return mo_fail(err, MO_E_IO,
                   "rank %d has never come to rank 0 at %s within %g s: start "
                   "all %d ranks, and see that it can be reached there",
                   missing, address_text, s->options->seconds,
                   s->params->n_ranks);
}

static bool is_lost(const server *s, int rank)
{
    const mo_rdv_join_options *o = s->options;

    return o->is_lost && o->is_lost(o->context, rank);
}

/* Forgets ranks that have come and were lost then, or will come again. */
static void drop_lost(server *s)
{
    for (int r = 1; r < s->params->n_ranks; r++)
        if (s->channels[r] &&
            (is_lost(s, r) || mo_secure_channel_is_closed(s->channels[r]))) {
            mo_secure_channel_free(s->channels[r]);
            s->channels[r] = NULL;
            s->endpoints[r] = (mo_rdv_endpoint){ .port = 0 };
        }
}

static mo_status wait_for_all(server *s, mo_rdv_pending_conns *pending,
                              mo_error *err)
{
    int n_ranks = s->params->n_ranks;
    mo_status status = MO_OK;

    while (status == MO_OK) {
        int wait_ms = mo_rdv_timeout_ms(s->deadline_ns, poll_ns), missing = 1;

        if (s->options->is_lost)
            drop_lost(s);
        while (missing < n_ranks &&
               (s->channels[missing] || is_lost(s, missing)))
            missing++;
        if (missing >= n_ranks)
            return MO_OK;
        for (int r = 1; r < n_ranks && !s->options->is_lost; r++)
            if (s->channels[r] && mo_secure_channel_is_closed(s->channels[r]))
                return mo_fail(err, MO_E_IO,
                               "rank %d (host %s) is gone: it was killed, or "
                               "has failed",
                               r, s->endpoints[r].host);
        if (s->options->is_lost && wait_ms == 0)
            wait_ms = 1;
        if (wait_ms == 0)
            return fail_missing(s, missing, err);
        status = mo_rdv_pending_conns_poll(pending, wait_ms, err);
    }
    return status;
}

static mo_status accept_all(server *s, int listener, mo_error *err)
{
    mo_rdv_pending_conns pending;
    mo_status status = mo_rdv_pending_conns_init(
        &pending, listener, sizeof(mo_rdv_preamble), handle_message, s, err);
    mo_rdv_verdict welcome = { 0 };
    int n_ranks = s->params->n_ranks;
    int64_t send_deadline_ns;

    pending.on_failure = handle_failure;
    if (status == MO_OK)
        status = wait_for_all(s, &pending, err);
    send_deadline_ns = mo_stop_clock_ns() + send_ns;
    for (int r = 1; r < n_ranks && status == MO_OK; r++)
        if (s->channels[r] &&
            (!mo_rdv_send_all(s->channels[r], &welcome, sizeof welcome,
                              send_deadline_ns) ||
             !mo_rdv_send_all(s->channels[r], s->endpoints,
                              (size_t) n_ranks * sizeof *s->endpoints,
                              send_deadline_ns)))
            status = mo_fail(err, MO_E_IO, "rank %d (host %s) is gone", r,
                             s->endpoints[r].host);
    /* Sends the reason of the failure to connected clients, and for a while to
     * late ones. */
    if (status != MO_OK && pending.conns) {
        int64_t deadline_ns = mo_stop_clock_ns() + notify_ns;
        int wait_ms, r = 1;

        if (!*s->failure_text)
            mo_error_format(err, s->failure_text, sizeof s->failure_text);
        for (int i = 1; i < n_ranks; i++)
            if (s->channels[i]) {
                send_verdict(s->channels[i], true, s->failure_text);
                mo_secure_channel_free(s->channels[i]);
                s->channels[i] = NULL;
                s->notified[i] = true;
            }
        /* Ranks that are left come again. */
        if (deadline_ns > s->deadline_ns || s->options->is_lost)
            deadline_ns = s->deadline_ns;
        while (r < n_ranks &&
               (s->notified[r] ||
                ((wait_ms = mo_rdv_timeout_ms(deadline_ns, poll_ns)) > 0 &&
                 mo_rdv_pending_conns_poll(&pending, wait_ms, NULL) == MO_OK)))
            r += s->notified[r];
    }
    mo_rdv_pending_conns_clear(&pending);
    return status;
}

mo_status mo_rdv_join_server(const mo_rdv_params *params,
                             const mo_rdv_join_options *options,
                             const uint8_t *bind, mo_rdv_endpoint *endpoints,
                             mo_secure_channel **channels, mo_error *err)
{
    server s = { .params = params,
                 .options = options,
                 .endpoints = endpoints,
                 .channels = channels };
    mo_error why = { 0 };
    char address_text[MO_RDV_HOST_SIZE + 16];
    int listener = -1;
    mo_status status = MO_OK;

    for (int r = 0; r < params->n_ranks; r++)
        channels[r] = NULL;
    s.notified = calloc((size_t) params->n_ranks, sizeof *s.notified);
    if (s.notified)
        listener = mo_rdv_listen(params, bind);
    if (!s.notified)
        status = mo_fail_memory(&why);
    else if (listener < 0 && errno == EADDRINUSE)
        status = mo_fail(&why, MO_E_IO,
                         "%s is taken: another rank 0 is there, or another "
                         "program; choose a port with --master HOST:PORT",
                         mo_rdv_format_master(params, address_text));
    else if (listener < 0)
        status = mo_fail(&why, MO_E_IO, "rank 0 cannot listen at port %d: %s",
                         params->port, strerror(errno));
    mo_rdv_preamble_init(&s.preamble, params);
    if (options->key && options->key->is_set)
        memcpy(s.preamble.salt, options->key->salt, sizeof s.preamble.salt);
    else if (status == MO_OK)
        status =
            mo_secure_random(s.preamble.salt, sizeof s.preamble.salt, &why);
    /* The key is derived once for all connections: scrypt is slow. */
    if (status == MO_OK)
        status = mo_rdv_credentials_new(params, s.preamble.salt, options->key,
                                        &s.credentials, &why);
    s.deadline_ns = mo_stop_clock_ns() + (int64_t) (options->seconds * 1e9);
    if (status == MO_OK)
        status = accept_all(&s, listener, &why);
    if (listener >= 0)
        close(listener);
    mo_secure_credentials_free(s.credentials);
    free(s.notified);
    if (status != MO_OK && err)
        *err = why;
    return status;
}
