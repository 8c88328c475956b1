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

typedef struct mo_roll mo_roll;

/* NULL where that cannot be done, which is no error. */
mo_roll *mo_roll_new(const mo_launcher *launcher);
void mo_roll_free(mo_roll *roll);

/* The first rank that is not there; -1: none is missing, or nobody knows. */
int mo_roll_missing(const mo_roll *roll);

#endif
