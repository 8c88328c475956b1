/* SPDX-License-Identifier: Apache-2.0 */
/*
 * roll.h - which ranks of a job have come, before any of them is connected.
 *
 * MPI_Init waits for all and names nobody.  Where a launcher has said that all
 * ranks are on this host, each listens at a name of the job that vanishes with
 * its process, and the others can see who is missing.
 */
#ifndef MO_EXEC_TRANSPORT_RENDEZVOUS_PRESENCE_H
#define MO_EXEC_TRANSPORT_RENDEZVOUS_PRESENCE_H

#include "exec/transport/rendezvous/launcher.h"

typedef struct mo_rdv_presence mo_rdv_presence;

/* NULL where that cannot be done, which is no error. */
mo_rdv_presence *mo_rdv_presence_new(const mo_rdv_launcher *launcher);
void mo_rdv_presence_free(mo_rdv_presence *roll);

/* The first rank that is not there; -1: none is missing, or nobody knows. */
int mo_rdv_presence_first_missing(const mo_rdv_presence *roll);

#endif
