/* SPDX-License-Identifier: Apache-2.0 */
/*
 * heading.h - the comments at the start of a model file: version, graph,
 * cluster, options, time unit, and the numbers of ops, devices and transfers.
 */
#ifndef MO_MODELS_WRITE_HEADING_H
#define MO_MODELS_WRITE_HEADING_H

#include "base/out.h"
#include "models/model.h"

typedef struct mo_heading {
    const mo_model *model;
    const char *graph, *cluster; /* files or names, as given by the user */
} mo_heading;

/* Every line begins with mark and a blank.  Lines are ASCII and short for any
 * names: some readers fail on long ones. */
void mo_heading_write(const mo_heading *heading, const char *mark, mo_out *out);

#endif
