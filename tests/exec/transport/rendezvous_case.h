/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rendezvous_case.h - ranks of a job that join each other, as threads of the
 * test.
 */
#ifndef MO_TESTS_EXEC_TRANSPORT_RENDEZVOUS_CASE_H
#define MO_TESTS_EXEC_TRANSPORT_RENDEZVOUS_CASE_H

#include "exec/transport/rendezvous/join.h"

#include <pthread.h>
#include <stdatomic.h>

enum { JOIN_RANKS = 6, JOIN_KINDS = 2 }; /* at most; kinds of connections */

/* Long enough for a busy machine; tests of timeouts use less. */
enum { TIMEOUT_S = 40 };
#define SOON_NS (TIMEOUT_S * INT64_C(1000000000) * 3 / 4)

/* A rank, which is a thread here. */
typedef struct join_rank {
    mo_rdv_params job;
    double seconds;
    mo_rdv_endpoint cards[JOIN_RANKS];
    mo_secure_channel *channels[JOIN_KINDS * JOIN_RANKS];
    mo_status status;
    mo_error err;
    pthread_t thread;
    atomic_bool is_done; /* the thread has ended */
} join_rank;

/* Messages about refused connections. */
extern char join_notes[4096];

/* Returns a port that was free a moment ago. */
int join_free_port(void);

/* Writes the address of such a port on the loopback interface. */
void join_free_address(char *master, size_t size);

/* Returns the token of tests: connections are sealed where TLS is built in,
 * else NULL. A static string. */
const char *join_token(void);

/* n ranks of one job, with a token where TLS is built in; port 0: at an
 * abstract socket. */
void join_set_up(join_rank *ranks, int n, int port);

void join_start(join_rank *r);
void join_finish(join_rank *r);

/* Closes its connections. */
void join_hang_up(join_rank *r);

/* Checks that every connection has its own two ends. */
void join_check(const join_rank *ranks, int n);

/* Checks that text contains words. */
void join_expect(const char *text, const char *words);

#endif
