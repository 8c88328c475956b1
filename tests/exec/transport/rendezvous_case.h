/* SPDX-License-Identifier: Apache-2.0 */
/*
 * join_case.h - ranks of a job that find each other, as threads.
 */
#ifndef MO_TESTS_EXEC_TRANSPORT_RENDEZVOUS_CASE_H
#define MO_TESTS_EXEC_TRANSPORT_RENDEZVOUS_CASE_H

#include "exec/transport/rendezvous/join.h"

#include <pthread.h>

enum { JOIN_RANKS = 6, JOIN_KINDS = 2 }; /* at most; of connections */

/* Busy machines take their time; whoever waits in vain takes more. */
enum { PATIENCE_S = 40 };
#define SOON_NS (PATIENCE_S * INT64_C(1000000000) * 3 / 4)

/* A rank, which is a thread here. */
typedef struct join_rank {
    mo_rdv_params job;
    double seconds;
    mo_rdv_endpoint cards[JOIN_RANKS];
    int sockets[JOIN_KINDS * JOIN_RANKS];
    mo_status status;
    mo_error err;
    pthread_t thread;
} join_rank;

/* What was told of others who came. */
extern char join_notes[4096];

/* A port that was free a moment ago. */
int join_free_port(void);

/* n ranks of one job; port 0: at a name. */
void join_set_up(join_rank *ranks, int n, int port);

void join_start(join_rank *r);
void join_finish(join_rank *r);

/* Closes its connections. */
void join_hang_up(join_rank *r);

/* Every connection has its own two ends. */
void join_check(const join_rank *ranks, int n);

/* The words are in the text. */
void join_expect(const char *text, const char *words);

#endif
