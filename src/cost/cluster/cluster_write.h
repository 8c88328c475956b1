/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster_write.h - writes a cluster as a file that mo_cluster_read reads back
 * as the same cluster, with comments.
 */
#ifndef MO_COST_CLUSTER_CLUSTER_WRITE_H
#define MO_COST_CLUSTER_CLUSTER_WRITE_H

#include "base/out.h"
#include "cost/cluster.h"

/* Comments on the origin of the numbers; each member may be NULL, and so may
 * any text. */
typedef struct mo_cluster_notes {
    const char *head;           /* for the whole file */
    const char *const *devices; /* by device */
    const char *const *links;   /* by link */
} mo_cluster_notes;

/* Writes cluster to out. Two directions with equal numbers and comments are
 * written as one link. notes may be NULL. */
void mo_cluster_write(const mo_cluster *cluster, const mo_cluster_notes *notes,
                      mo_out *out);

#endif
