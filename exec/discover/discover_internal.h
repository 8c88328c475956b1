/*
 * discover_parts.h - what the files of discover.h have of each other.
 */
#ifndef MO_EXEC_DISCOVER_DISCOVER_INTERNAL_H
#define MO_EXEC_DISCOVER_DISCOVER_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>

#include "exec/discover/discover.h"

enum { MO_SURVEY_VERSION = 1 };

/* discover_gpus.c: all GPUs, or the reason why there is none. */
void mo_survey_gpus(mo_survey *survey);

/* discover_host.c: name, processors, memory. */
void mo_survey_host(mo_survey *survey);

/* discover_network.c: the card that is fastest by what the system says. */
void mo_survey_network(mo_survey *survey);

/* A PCI address as one number that is never 0. */
static inline uint64_t mo_survey_bus(unsigned domain, unsigned bus,
                                     unsigned device)
{
    return UINT64_C(1) << 63 | (uint64_t) domain << 16 |
           (uint64_t) (bus & 0xff) << 8 | (device & 0xff);
}

/* A device of the cluster to be. */
typedef struct mo_find {
    const mo_survey *survey;
    const mo_survey_gpu *gpu; /* NULL: processors */
    int rank;
} mo_find;

enum { MO_FIND_NOTE = 160 };

/* How data gets from one to another, and how that is known. */
typedef struct mo_find_way {
    double gbps;
    int64_t latency_ns;
    char note[MO_FIND_NOTE];
} mo_find_way;

/* discover_way.c: the same both ways. */
mo_find_way mo_find_way_between(const mo_find *a, const mo_find *b);

bool mo_find_same_machine(const mo_find *a, const mo_find *b);

/* discover_topology.c: which device of a topology it is, or -1; and what that
 * says of the way between two of its devices, where it says anything. */
int mo_find_match(const mo_cluster *topology, const mo_find *find);
void mo_find_in_topology(const mo_cluster *topology, int from, int to,
                         mo_find_way *way);

/* discover_peak.c: 10^9 operations a second in that precision; 0: unknown. */
double mo_find_peak_gflops(const mo_survey_gpu *gpu, const char *precision);

/* discover_owner.c: which of the GPUs that the ranks see each of them is given;
 * owned has MO_SURVEY_GPUS entries for every rank. */
void mo_find_owners(const mo_survey *surveys, int n_ranks, bool *owned);

#endif
