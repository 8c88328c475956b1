/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster_format.h - the kinds of files a cluster is read from.
 *
 * Each is told by its root element and turns elements into devices and links of
 * a builder.
 */
#ifndef MO_COST_CLUSTER_CLUSTER_FORMAT_H
#define MO_COST_CLUSTER_CLUSTER_FORMAT_H

#include "base/error.h"
#include "cost/cluster/cluster_builder.h"
#include "ingest/xml.h"

typedef struct mo_cluster_format {
    const char *root; /* name of the root element */

    /* *state is what the others get; it may be built up to any point when this
     * fails, and free is called all the same. */
    mo_status (*begin)(const mo_xml_element *root, mo_cluster_builder *builder,
                       void **state, mo_error *err);
    mo_status (*start)(void *state, const mo_xml_element *element,
                       mo_error *err);
    void (*end)(void *state); /* or NULL */
    /* After the last element: adds to the builder what had to wait.  NULL when
     * nothing had to. */
    mo_status (*finish)(void *state, mo_error *err);
    void (*free)(void *state);
} mo_cluster_format;

extern const mo_cluster_format mo_cluster_format_xml;  /* <cluster> */
extern const mo_cluster_format mo_cluster_format_nccl; /* <system> */

#endif
