/*
 * join_parts.h - what callers and rank 0 say to each other, for the files that
 * join ranks.
 *
 *     caller                           rank 0
 *     greeting: who, a number    ->
 *                                <-    answer: a number, proof
 *     claim: proof, card         ->
 *                                <-    verdict: welcome, or why not
 *                                <-    verdict: all are here, or why not
 *                                <-    the cards of all
 *
 * Afterwards short messages as in wire.h: MO_WIRE_FAIL, or MO_WIRE_BYE, said by
 * a caller that is connected to all and by rank 0 when all are.
 */
#ifndef MO_EXEC_TRANSPORT_RENDEZVOUS_HANDSHAKE_H
#define MO_EXEC_TRANSPORT_RENDEZVOUS_HANDSHAKE_H

#include <stdbool.h>
#include <stdint.h>

#include "exec/transport/rendezvous/hmac.h"
#include "exec/transport/rendezvous/join.h"
#include "exec/transport/rendezvous/control_msg.h"

enum {
    MO_JOIN_VERSION = 1,
    MO_JOIN_ORDER = 0x01020304, /* reads otherwise where bytes go otherwise */
    MO_JOIN_NUMBER = 32,
    MO_JOIN_TEXT = 508
};

typedef struct mo_join_greeting {
    char magic[8];
    uint32_t order, version;
    uint32_t rank, n_ranks;
    uint32_t card_bytes, zero;
    uint8_t number[MO_JOIN_NUMBER];
} mo_join_greeting;

typedef struct mo_join_answer {
    char magic[8];
    uint8_t number[MO_JOIN_NUMBER];
    uint8_t proof[MO_HMAC_BYTES];
} mo_join_answer;

typedef struct mo_join_claim {
    uint8_t proof[MO_HMAC_BYTES];
    mo_card card;
} mo_join_claim;

typedef struct mo_join_verdict {
    uint32_t refused;
    char text[MO_JOIN_TEXT]; /* why */
} mo_join_verdict;

extern const char mo_join_magic[8];

/* What both sides know when they seal: the greeting and the answer's number. */
typedef enum mo_join_side { MO_JOIN_CALLER, MO_JOIN_HOST } mo_join_side;
void mo_join_seal(const char *token, mo_join_side side,
                  const mo_join_greeting *greeting,
                  const uint8_t number[MO_JOIN_NUMBER],
                  uint8_t proof[MO_HMAC_BYTES]);

mo_status mo_join_draw(uint8_t number[MO_JOIN_NUMBER], mo_error *err);

/* All of it until then; false when it cannot be, or the other end is gone. */
bool mo_join_send(int socket, const void *data, size_t bytes,
                  int64_t deadline_ns);
bool mo_join_receive(int socket, void *data, size_t bytes,
                     int64_t deadline_ns);

/* Where rank 0 is, for errors. */
const char *mo_join_place(const mo_job *job, char text[MO_LAUNCH_HOST + 16]);

/* Sockets where the ranks of a job meet: -1, and errno tells. */
int mo_join_listen(const mo_job *job, const uint8_t *bind);
int mo_join_connect(const mo_job *job, int64_t deadline_ns, mo_error *err);

/* Somebody else's process on this machine; always false across machines. */
bool mo_join_is_foreign(int socket);

/* Connections that are kept until all are connected with all: of a caller one,
 * to rank 0; of rank 0 those to all others. */
typedef struct mo_star {
    const mo_job *job;
    const mo_card *cards;
    mo_wire *wires; /* by rank; closed where there is none */
    bool *done;     /* by rank: it has nothing more to say, or never had */
} mo_star;

/* Has anybody failed, or gone?  For rank 0 it tells all others. */
bool mo_star_called_off(void *star, mo_error *why);
/* Tells all at the other ends. */
void mo_star_fail(mo_star *star, const mo_error *why);
/* We cannot go on: tells it, and why becomes what rank 0 makes of it, who may
 * know of a cause that came first. */
void mo_star_judge(mo_star *star, mo_error *why);
/* Says that we are connected, and returns when all are. */
mo_status mo_star_part(mo_star *star, int64_t deadline_ns, mo_error *err);

/* Rank 0: waits for all.  sockets: by rank, -1 at our own, and all on failure,
 * which those that have come are told. */
mo_status mo_join_host(const mo_job *job, const mo_join_options *options,
                       const uint8_t *bind, mo_card *cards, int *sockets,
                       mo_error *err);

/* The others; cards[job->rank] is our own. */
mo_status mo_join_call(const mo_job *job, const mo_join_options *options,
                       mo_card *cards, int *socket, mo_error *err);

#endif
