/* SPDX-License-Identifier: Apache-2.0 */
/*
 * launcher.h - detection of the launcher (mpirun, srun, ...) by its
 * environment variables.
 */
#ifndef MO_EXEC_TRANSPORT_RENDEZVOUS_LAUNCHER_H
#define MO_EXEC_TRANSPORT_RENDEZVOUS_LAUNCHER_H

#include <stdbool.h>

typedef struct mo_rdv_launcher {
    const char *name;     /* "mpirun" */
    int rank;             /* of this process; -1: unknown */
    int n_ranks;          /* 0: unknown */
    bool one_host;        /* all ranks are known to be on this host */
    const char *job_name; /* unique name of the job, or NULL; borrowed from the
                             environment */
} mo_rdv_launcher;

/* Fills *launcher; returns false when there is none. */
bool mo_rdv_launcher_detect(mo_rdv_launcher *launcher);

/*
 * Launch options of a command; all may be missing. Options override the
 * variables MOIRAI_RANK, MOIRAI_RANKS, MOIRAI_MASTER, MOIRAI_TOKEN,
 * MOIRAI_BIND, MOIRAI_NO_SHM, MOIRAI_OPEN, MOIRAI_PLAIN and MOIRAI_TLS_CERT,
 * _KEY, _CA, these override torchrun's (RANK, WORLD_SIZE, MASTER_ADDR,
 * MASTER_PORT), and these the variables of a launcher of MPI or Slurm.
 */
typedef struct mo_rdv_launch_options {
    bool has_rank;      /* rank is given */
    int rank, n_ranks;  /* n_ranks 0: not given */
    const char *master; /* address of rank 0: "host" or "host:port" */
    const char *token;  /* has to be equal on all ranks; NULL: none */
    const char *bind;   /* the address to listen at; NULL: any */
    bool no_shm;        /* no shared memory with ranks of this host */
    bool open;          /* without a token, any process may join */
    bool plain;         /* values are not sealed */
    /* Files of a certificate, its key and the authority, in PEM; all or none.
     * They replace the token. */
    const char *tls_cert, *tls_key, *tls_ca;
} mo_rdv_launch_options;

#endif
