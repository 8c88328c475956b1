/* SPDX-License-Identifier: Apache-2.0 */
/* Client side of the rendezvous: ranks other than 0. */
#include <config.h>

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/minmax.h"
#include "base/stop.h"
#include "exec/transport/rendezvous/decode.h"
#include "exec/transport/rendezvous/handshake.h"

/* Time between two attempts; for an answer; and how much longer than rank 0
 * itself an accepted client waits. */
static const int64_t retry_ns = 50000000, answer_ns = 3000000000,
                     extra_wait_ns = 2000000000;

typedef struct client {
    const mo_rdv_params *params;
    const mo_rdv_join_options *options;
    int64_t deadline_ns;
    mo_rdv_endpoint *endpoints;
    mo_secure_channel *channel;
    /* Of the last salt of rank 0: a second attempt need not derive a key. */
    mo_secure_credentials *credentials;
    uint8_t salt[MO_SECURE_SALT_BYTES];
    bool is_final; /* a further attempt would fail likewise */
} client;

static int64_t answer_deadline(const client *c)
{
    return mo_min_i64(mo_stop_clock_ns() + answer_ns, c->deadline_ns);
}

static mo_status check_security(client *c, uint32_t theirs, mo_error *err)
{
    static const char *const names[] = { "has neither token nor certificate",
                                         "has a token", "has a certificate" };
    mo_rdv_security own = mo_rdv_security_of(c->params);
    char place[MO_RDV_HOST_SIZE + 16];

    if (theirs == own)
        return MO_OK;
    c->is_final = true;
    return mo_fail(err, MO_E_IO, "rank 0 at %s %s, but this rank %s: %s",
                   mo_rdv_format_master(c->params, place),
                   theirs <= MO_RDV_SECURITY_CERTIFICATE ? names[theirs]
                                                         : "is another version",
                   names[own],
                   own == MO_RDV_SECURITY_CERTIFICATE ||
                           theirs == MO_RDV_SECURITY_CERTIFICATE
                       ? "give all ranks --tls-cert, --tls-key and --tls-ca"
                       : "give all ranks the same MOIRAI_TOKEN");
}

static mo_status exchange_preambles(client *c, mo_rdv_preamble *theirs,
                                    mo_error *err)
{
    char place[MO_RDV_HOST_SIZE + 16];
    mo_rdv_preamble own;

    mo_rdv_preamble_init(&own, c->params);
    mo_rdv_format_master(c->params, place);
    if (!mo_rdv_send_all(c->channel, &own, sizeof own, answer_deadline(c)) ||
        !mo_rdv_receive_all(c->channel, theirs, sizeof *theirs,
                            answer_deadline(c)))
        return mo_fail(err, MO_E_IO,
                       "what listens at %s does not answer as rank 0 does: see "
                       "that rank 0 is not stopped, or choose another port "
                       "with --master HOST:PORT",
                       place);
    if (memcmp(theirs->magic, mo_rdv_magic, sizeof mo_rdv_magic) != 0 ||
        mo_rdv_is_other_user(mo_secure_channel_socket(c->channel)))
        return mo_fail(err, MO_E_IO,
                       "what answers at %s is not rank 0: choose another port "
                       "with --master HOST:PORT",
                       place);
    c->is_final = true;
    if (theirs->order != own.order)
        return mo_fail(err, MO_E_IO,
                       "rank 0 at %s has another order of bytes: ranks must be "
                       "machines of one kind",
                       place);
    if (theirs->version != own.version)
        return mo_fail(err, MO_E_IO,
                       "rank 0 at %s is another version of moirai: use the "
                       "same everywhere",
                       place);
    c->is_final = false;
    return check_security(c, theirs->security, err);
}

static mo_status authenticate(client *c, mo_error *err)
{
    int64_t deadline_ns = answer_deadline(c);
    char identity[MO_SECURE_IDENTITY_SIZE], place[MO_RDV_HOST_SIZE + 16];
    mo_secure_progress progress;
    mo_error why = { 0 };
    mo_status status;

    mo_rdv_format_identity(identity, (uint32_t) c->params->rank,
                           (uint32_t) c->params->n_ranks);
    mo_rdv_format_master(c->params, place);
    status = mo_secure_channel_start(c->channel, c->credentials,
                                     MO_SECURE_CLIENT, identity, err);
    if (status != MO_OK)
        return status;
    while ((progress = mo_secure_channel_handshake(c->channel, &why)) ==
           MO_SECURE_AGAIN)
        if (!mo_rdv_socket_poll(mo_secure_channel_socket(c->channel),
                                mo_secure_channel_events(c->channel),
                                deadline_ns))
            return mo_fail(err, MO_E_IO,
                           "rank 0 at %s does not answer in the TLS handshake",
                           place);
    if (progress == MO_SECURE_DONE)
        return MO_OK;
    c->is_final = why.status != MO_E_IO;
    if (why.status == MO_E_MEMORY)
        return mo_fail_memory(err);
    return mo_fail(err, MO_E_IO, "rank 0 at %s %s", place,
                   mo_secure_channel_failure(c->channel));
}

static mo_status send_hello(client *c, mo_error *err)
{
    char place[MO_RDV_HOST_SIZE + 16];
    mo_rdv_verdict verdict;
    mo_rdv_hello hello = { .rank = (uint32_t) c->params->rank,
                           .n_ranks = (uint32_t) c->params->n_ranks,
                           .endpoint_bytes = sizeof hello.endpoint,
                           .plain_values = c->params->plain,
                           .endpoint = c->endpoints[c->params->rank] };
    bool received;

    mo_rdv_format_master(c->params, place);
    mo_rdv_format_job(c->params, hello.job);
    memset(hello.endpoint.secret, 0, sizeof hello.endpoint.secret);
    /* If rank 0 has closed the connection, its verdict comes before that. */
    mo_rdv_send_all(c->channel, &hello, sizeof hello, answer_deadline(c));
    received = mo_rdv_receive_all(c->channel, &verdict, sizeof verdict,
                                  answer_deadline(c));
    if (received && !verdict.refused)
        return MO_OK;
    verdict.text[MO_RDV_REASON_BYTES - 1] = '\0';
    c->is_final = received || *mo_secure_channel_failure(c->channel);
    if (received)
        return mo_fail(err, MO_E_IO, "rank 0 at %s refuses: %s", place,
                       verdict.text);
    return mo_fail(err, MO_E_IO, "rank 0 at %s %s", place,
                   c->is_final ? mo_secure_channel_failure(c->channel)
                               : "has closed the connection");
}

static mo_status greet(client *c, mo_error *err)
{
    mo_rdv_preamble theirs;
    mo_status status = exchange_preambles(c, &theirs, err);

    if (status == MO_OK && theirs.security != MO_RDV_SECURITY_NONE) {
        if (!c->credentials ||
            memcmp(c->salt, theirs.salt, sizeof c->salt) != 0) {
            mo_secure_credentials_free(c->credentials);
            memcpy(c->salt, theirs.salt, sizeof c->salt);
            status = mo_rdv_credentials_new(c->params, c->salt, c->options->key,
                                            &c->credentials, err);
            c->is_final = status != MO_OK;
        }
        if (status == MO_OK)
            status = authenticate(c, err);
    }
    return status == MO_OK ? send_hello(c, err) : status;
}

/* One attempt. */
static mo_status attempt_join(client *c, mo_error *err)
{
    char place[MO_RDV_HOST_SIZE + 16];
    int fd = mo_rdv_connect(c->params, c->deadline_ns, err);
    mo_status status;

    if (fd < 0 && err->status != MO_OK)
        return err->status;
    if (fd < 0)
        return mo_fail(err, MO_E_IO,
                       "rank 0 cannot be reached at %s: see that it has been "
                       "started, and that no firewall is in between",
                       mo_rdv_format_master(c->params, place));
    c->channel = mo_secure_channel_new(fd);
    status = c->channel ? greet(c, err) : mo_fail_memory(err);
    if (status == MO_OK)
        return MO_OK;
    mo_secure_channel_free(c->channel);
    c->channel = NULL;
    return status;
}

/* Rank 0 answers as soon as all ranks have arrived, or one is known to be
 * missing. */
static mo_status wait_for_endpoints(const client *c, double seconds,
                                    mo_error *err)
{
    int64_t deadline_ns =
        mo_stop_clock_ns() + (int64_t) (seconds * 1e9) + extra_wait_ns;
    size_t bytes = (size_t) c->params->n_ranks * sizeof *c->endpoints;
    const mo_rdv_endpoint own = c->endpoints[c->params->rank];
    mo_rdv_verdict verdict;
    char place[MO_RDV_HOST_SIZE + 16];

    mo_rdv_format_master(c->params, place);
    if (mo_rdv_receive_all(c->channel, &verdict, sizeof verdict, deadline_ns)) {
        verdict.text[MO_RDV_REASON_BYTES - 1] = '\0';
        if (verdict.refused)
            return mo_fail(err, MO_E_IO, "%s (reported by rank 0 at %s)",
                           *verdict.text ? verdict.text : "the job has failed",
                           place);
        if (mo_rdv_receive_all(c->channel, c->endpoints, bytes, deadline_ns)) {
            /* Checks what rank 0 has sent; this rank's endpoint stays as it is
             * here. */
            mo_error why = { 0 };

            c->endpoints[c->params->rank] = own;
            for (int r = 0; r < c->params->n_ranks; r++)
                if (!(c->options->is_lost && r > 0 &&
                      c->endpoints[r].port == 0) &&
                    mo_rdv_decode_endpoint(&c->endpoints[r],
                                           sizeof *c->endpoints,
                                           &c->endpoints[r], &why) != MO_OK)
                    return mo_fail(
                        err, MO_E_IO,
                        "rank 0 sends %s as that of rank %d: use the same "
                        "moirai everywhere",
                        why.text, r);
            return MO_OK;
        }
    }
    if (mo_stop_clock_ns() >= deadline_ns)
        return mo_fail(err, MO_E_IO,
                       "rank 0 (at %s) has sent nothing for %g s: it was "
                       "stopped, or its machine or the network is down",
                       place, seconds + (double) extra_wait_ns * 1e-9);
    return mo_fail(err, MO_E_IO,
                   "rank 0 (at %s) is gone: it was killed, or has failed",
                   place);
}

mo_status mo_rdv_join_client(const mo_rdv_params *params,
                             const mo_rdv_join_options *options,
                             mo_rdv_endpoint *endpoints,
                             mo_secure_channel **channel, mo_error *err)
{
    client c = { .params = params, .options = options, .endpoints = endpoints };
    mo_error why = { 0 };
    mo_status status;

    c.deadline_ns = mo_stop_clock_ns() + (int64_t) (options->seconds * 1e9);
    do {
        why = (mo_error){ 0 };
        status = attempt_join(&c, &why);
        c.is_final |= status == MO_E_MEMORY;
        if (status != MO_OK && !c.is_final) {
            struct timespec delay = { .tv_nsec = (long) retry_ns };

            nanosleep(&delay, NULL);
        }
    } while (status != MO_OK && !c.is_final &&
             mo_stop_clock_ns() < c.deadline_ns &&
             !(options->is_lost && options->is_lost(options->context, 0)));
    if (status == MO_OK)
        status = wait_for_endpoints(&c, options->seconds, &why);
    if (status == MO_OK) {
        /* The address of this connection is known to work: it is tried first.
         */
        struct sockaddr_storage at;
        socklen_t length = sizeof at;
        uint8_t address[MO_RDV_ADDRESS_BYTES];

        if (*c.endpoints[0].network &&
            getpeername(mo_secure_channel_socket(c.channel),
                        (struct sockaddr *) &at, &length) == 0 &&
            mo_rdv_address_from_sockaddr((struct sockaddr *) &at, address))
            mo_rdv_endpoint_prefer_address(&c.endpoints[0], address);
        *channel = c.channel;
    } else {
        mo_secure_channel_free(c.channel);
        *channel = NULL;
        if (err)
            *err = why;
    }
    mo_secure_credentials_free(c.credentials);
    return status;
}
