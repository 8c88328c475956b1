/* SPDX-License-Identifier: Apache-2.0 */
/*
 * launcher.h - who started this process as one of several, by its environment.
 */
#ifndef MO_EXEC_TRANSPORT_RENDEZVOUS_LAUNCHER_H
#define MO_EXEC_TRANSPORT_RENDEZVOUS_LAUNCHER_H

#include <stdbool.h>

typedef struct mo_rdv_launcher {
    const char *name; /* "mpirun" */
    int rank;         /* ours, or -1: not told */
    int n_ranks;      /* 0: not told */
    bool one_host;    /* all of them are known to be on this one */
    const char *job;  /* a text that other jobs do not have, or NULL; of the
                         environment */
} mo_rdv_launcher;

/* False when nobody did. */
bool mo_rdv_launcher_detect(mo_rdv_launcher *launcher);

/*
 * What a command was told of the ranks of its job; all of it may be missing.
 * Options come before the variables MOIRAI_RANK, MOIRAI_RANKS, MOIRAI_MASTER,
 * MOIRAI_TOKEN and MOIRAI_BIND, these before torchrun's (RANK, WORLD_SIZE,
 * MASTER_ADDR, MASTER_PORT), and these before what a launcher of MPI or Slurm
 * says.
 */
typedef struct mo_rdv_launch_options {
    bool rank_told;     /* rank is one */
    int rank, n_ranks;  /* n_ranks 0: not told */
    const char *master; /* where rank 0 listens: "host" or "host:port" */
    const char *token;  /* only who has the same may join; NULL: none */
    const char *bind;   /* the address to listen at; NULL: any */
} mo_rdv_launch_options;

#endif
