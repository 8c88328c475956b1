/* SPDX-License-Identifier: Apache-2.0 */
/*
 * heading.h - the comments a model file opens with: version, graph, cluster,
 * options, time unit, and which number is which op, device and transfer.
 */
#ifndef MO_MODELS_WRITE_HEADING_H
#define MO_MODELS_WRITE_HEADING_H

#include "base/out.h"
#include "models/model.h"

typedef struct mo_heading {
    const mo_model *model;
    const char *graph, *cluster; /* files or names, as the user gave them */
} mo_heading;

/* Every line begins with mark and a blank.  Lines are ASCII and short whatever
 * the names are: some readers stumble over long ones. */
void mo_heading_write(const mo_heading *heading, const char *mark, mo_out *out);

#endif
