/* SPDX-License-Identifier: Apache-2.0 */
/*
 * presence.h - presence of the ranks of a job on this host, tested before any
 * two are connected.
 *
 * MPI_Init waits for all ranks and does not name the missing ones. Where a
 * launcher guarantees that all ranks are on this host, each listens at an
 * abstract socket whose name contains job and rank and which vanishes with its
 * process, so that the others can test for it.
 */
#ifndef MO_EXEC_TRANSPORT_RENDEZVOUS_PRESENCE_H
#define MO_EXEC_TRANSPORT_RENDEZVOUS_PRESENCE_H

#include "exec/transport/rendezvous/launcher.h"

typedef struct mo_rdv_presence mo_rdv_presence;

/* Returns NULL where that is not possible, which is no error. The caller frees
 * it with mo_rdv_presence_free(). */
mo_rdv_presence *mo_rdv_presence_new(const mo_rdv_launcher *launcher);
void mo_rdv_presence_free(mo_rdv_presence *presence);

/* Returns the first rank, from the given one on, that is not present; -1: none
 * is missing, or it is unknown (presence NULL). */
int mo_rdv_presence_next_missing(const mo_rdv_presence *presence, int rank);

#endif
