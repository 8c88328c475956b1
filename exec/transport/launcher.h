/*
 * launcher.h - who started this process as one of several, by its environment.
 */
#ifndef MO_EXEC_TRANSPORT_LAUNCHER_H
#define MO_EXEC_TRANSPORT_LAUNCHER_H

#include <stdbool.h>

typedef struct mo_launcher {
    const char *name; /* "mpirun" */
    int rank;         /* ours, or -1: not told */
    int n_ranks;      /* 0: not told */
    bool one_host;    /* all of them are known to be on this one */
    const char *job;  /* a text that other jobs do not have, or NULL; of the
                         environment */
} mo_launcher;

/* False when nobody did. */
bool mo_launcher_find(mo_launcher *launcher);

#endif
