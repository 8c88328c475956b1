/* SPDX-License-Identifier: Apache-2.0 */
/*
 * launch.h - which rank of which job this process is, and where they meet.
 *
 * Found out from options, variables and launchers (launcher.h says in which
 * order).  Nothing here waits or talks to anybody.
 */
#ifndef MO_EXEC_TRANSPORT_RENDEZVOUS_LAUNCH_H
#define MO_EXEC_TRANSPORT_RENDEZVOUS_LAUNCH_H

#include <stdbool.h>

#include "base/error.h"
#include "exec/transport/rendezvous/launcher.h"

enum {
    MO_RDV_DEFAULT_PORT = 29577, /* of rank 0, where nobody says */
    MO_RDV_HOST_SIZE = 256,
    MO_RDV_JOB_NAME_SIZE = 80,
    MO_RDV_MAX_RANKS = 4096
};

typedef struct mo_rdv_params {
    const char *by;    /* who has started it: "--rank", "torchrun", ... */
    bool by_us;        /* through our own options or variables */
    int rank, n_ranks; /* 0 of 1: nobody else is there */
    /* Where rank 0 is met: at a host and a port, or, with all ranks on one
     * machine, at a name of the job that is no file; then host is empty. */
    char host[MO_RDV_HOST_SIZE];
    int port;
    char name[MO_RDV_JOB_NAME_SIZE];
    const char *token; /* what all know; never NULL */
    const char *bind;  /* the address to listen at, or NULL */
} mo_rdv_params;

/* MO_E_USAGE where what was told is no sense; one line says what. */
mo_status mo_rdv_params_resolve(const mo_rdv_launch_options *told,
                                mo_rdv_params *job, mo_error *err);

/* "host", "host:port", "[::1]:port"; port is left alone where there is none.
 * False for anything else. */
bool mo_rdv_parse_master(const char *text, char host[MO_RDV_HOST_SIZE],
                         int *port);

/* The first host of a list as Slurm writes them: "gpu[01-04,7],login".  False
 * for what is no such list. */
bool mo_rdv_hostlist_first(const char *list, char host[MO_RDV_HOST_SIZE]);

#endif
