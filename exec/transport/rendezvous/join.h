/* SPDX-License-Identifier: Apache-2.0 */
/*
 * join.h - the ranks of a job find each other, with a token that all know.
 *
 * Rank 0 listens where the job says, the others call it until it answers.  Each
 * side shows that it knows the token without telling it: a number of the other
 * side's, sealed with it (hmac.h).  Then all get everybody's cards and connect
 * with each other (meet.h).  Until all of them have, they stay in touch with
 * rank 0, so that each hears who is missing, who has gone, and who cannot reach
 * whom.
 *
 * What travels is not encrypted: a token keeps strangers out, it does not keep
 * anything secret.
 */
#ifndef MO_EXEC_TRANSPORT_RENDEZVOUS_JOIN_H
#define MO_EXEC_TRANSPORT_RENDEZVOUS_JOIN_H

#include <stdint.h>

#include "base/error.h"
#include "exec/transport/rendezvous/launch.h"
#include "exec/transport/rendezvous/mesh.h"

typedef struct mo_rdv_join_options {
    double seconds; /* how long the others are waited for */
    int n_kinds;    /* connections between any two */
    /* NULL, or told who was refused, and why, while all go on waiting. */
    void (*note)(const char *text);
} mo_rdv_join_options;

/* cards: by rank.  sockets: as those of mo_rdv_mesh_connect. */
mo_status mo_rdv_join(const mo_rdv_params *job,
                      const mo_rdv_join_options *options,
                      mo_rdv_endpoint *cards, int *sockets, mo_error *err);

#endif
