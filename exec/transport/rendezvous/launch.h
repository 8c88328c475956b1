/* SPDX-License-Identifier: Apache-2.0 */
/*
 * launch.h - rendezvous parameters of this process: its rank, the number of
 * ranks, the address of rank 0, the token.
 *
 * Determined from options, variables and launchers (order: launcher.h),
 * without any communication.
 */
#ifndef MO_EXEC_TRANSPORT_RENDEZVOUS_LAUNCH_H
#define MO_EXEC_TRANSPORT_RENDEZVOUS_LAUNCH_H

#include <stdbool.h>

#include "base/error.h"
#include "exec/transport/rendezvous/launcher.h"

enum {
    MO_RDV_DEFAULT_PORT = 29577, /* of rank 0, by default */
    MO_RDV_HOST_SIZE = 256,
    MO_RDV_JOB_NAME_SIZE = 80,
    MO_RDV_MAX_RANKS = 4096
};

typedef struct mo_rdv_params {
    const char *source; /* source of the rank: "--rank", "torchrun", ... */
    bool from_options;  /* from options or MOIRAI_ variables */
    int rank, n_ranks;  /* 0 of 1: a single process */
    int epoch;          /* how often ranks were lost; a join is of one epoch */
    /* Address of rank 0: a host and a port, or, with all ranks on one machine,
     * an abstract socket name; then host is empty. */
    char host[MO_RDV_HOST_SIZE];
    int port;
    char name[MO_RDV_JOB_NAME_SIZE];
    /* Shared by all ranks; never NULL. Where none is given (has_token false) it
     * is the name of the job, or empty: that keeps jobs apart, and no other
     * process out. */
    const char *token;
    bool has_token;   /* token is a secret of the user */
    bool open;        /* no token is needed */
    bool plain;       /* values are not sealed */
    bool is_local;    /* nothing is reachable from another machine */
    const char *bind; /* address to listen at, or NULL */
    bool no_shm;      /* no shared memory with ranks of this host */
    /* Files of a certificate, its key and the authority; all or none NULL. */
    const char *tls_cert, *tls_key, *tls_ca;
} mo_rdv_params;

/* Length of a token in characters, below which a warning is due. */
enum { MO_RDV_SHORT_TOKEN = 16 };

/* Fills *params; its strings are borrowed from *launch and the environment.
 * Returns MO_E_USAGE, with a one-line text, for contradictory or malformed
 * parameters. */
mo_status mo_rdv_params_resolve(const mo_rdv_launch_options *launch,
                                mo_rdv_params *params, mo_error *err);

/*
 * Checks how the ranks of a job authenticate each other, for transports over
 * TCP. Fails with MO_E_USAGE when ranks of several machines have neither a
 * token nor a certificate and --open is not given, when the token is empty, and
 * for contradictory options; the text names the remedy. On rank 0 note, if not
 * NULL, receives one line for each weakness: an open job, a short token,
 * values that are not sealed. A job of one rank passes.
 */
mo_status mo_rdv_params_check(const mo_rdv_params *params,
                              void (*note)(const char *text), mo_error *err);

/* Returns whether options or variables exclude shared memory. */
bool mo_rdv_launch_excludes_shm(const mo_rdv_launch_options *launch);

/* Parses "host", "host:port", "[::1]:port"; *port is unchanged where there is
 * none. Returns false for anything else. */
bool mo_rdv_parse_master(const char *text, char host[MO_RDV_HOST_SIZE],
                         int *port);

/* Copies the first host of a Slurm host list: "gpu[01-04,7],login". Returns
 * false for malformed lists. */
bool mo_rdv_hostlist_first(const char *list, char host[MO_RDV_HOST_SIZE]);

#endif
