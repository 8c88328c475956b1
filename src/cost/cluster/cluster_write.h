/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster_write.h - a cluster as a file that mo_cluster_read reads back as the
 * same cluster, with remarks for people.
 */
#ifndef MO_COST_CLUSTER_CLUSTER_WRITE_H
#define MO_COST_CLUSTER_CLUSTER_WRITE_H

#include "base/out.h"
#include "cost/cluster.h"

/* Where numbers come from; each may be NULL, and so may any of their texts. */
typedef struct mo_cluster_notes {
    const char *head;           /* of all of it */
    const char *const *devices; /* by device */
    const char *const *links;   /* by link */
} mo_cluster_notes;

/* Two directions with the same numbers and the same remark are written as
 * one.  notes may be NULL. */
void mo_cluster_write(const mo_cluster *cluster, const mo_cluster_notes *notes,
                      mo_out *out);

#endif
