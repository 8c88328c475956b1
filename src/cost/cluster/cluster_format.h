/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster_format.h - file formats of clusters: a table of parsers.
 *
 * A format is recognized by its root element and turns elements into devices
 * and links of a builder.
 */
#ifndef MO_COST_CLUSTER_CLUSTER_FORMAT_H
#define MO_COST_CLUSTER_CLUSTER_FORMAT_H

#include "base/error.h"
#include "cost/cluster/cluster_builder.h"
#include "ingest/xml.h"

typedef struct mo_cluster_format {
    const char *root; /* name of the root element */

    /* *state is passed to the other functions; free is called even when this
     * function fails halfway. */
    mo_status (*begin)(const mo_xml_element *root, mo_cluster_builder *builder,
                       void **state, mo_error *err);
    mo_status (*start)(void *state, const mo_xml_element *element,
                       mo_error *err);
    void (*end)(void *state); /* or NULL */
    /* After the last element: adds to the builder what had to be deferred; or
     * NULL. */
    mo_status (*finish)(void *state, mo_error *err);
    void (*free)(void *state);
} mo_cluster_format;

extern const mo_cluster_format mo_cluster_format_xml;  /* <cluster> */
extern const mo_cluster_format mo_cluster_format_nccl; /* <system> */

/* <models>: a user's own device models, without devices. */
extern const mo_cluster_format mo_cluster_format_models;

#endif
