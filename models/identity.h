/* SPDX-License-Identifier: Apache-2.0 */
/*
 * identity.h - provenance of a model, encoded in the names of columns.
 *
 * A solution file is all that returns from the solver's host.  Columns fixed
 * to 1 carry the digests of graph, cluster, profile, rules and instance, the
 * options and the time unit in their names; every solver copies them.
 * moirai-model(5).
 */
#ifndef MO_MODELS_IDENTITY_H
#define MO_MODELS_IDENTITY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "cost/instance.h"
#include "models/sink/variable.h"
#include "schedule/regime.h"

enum { MO_IDENTITY_NAMES = 7 };

typedef struct mo_identity {
    int n;
    char name[MO_IDENTITY_NAMES][MO_VARIABLE_NAME];
} mo_identity;

/* Inputs that shaped the model beside the instance. */
typedef struct mo_identity_options {
    const char *formulation;
    mo_regime regime;
    const char *fusion;    /* name of a built-in rule set, "none", or "file" */
    uint64_t graph_digest; /* of the graph as read, before coarsening */
    bool has_rules;        /* a rule file was used:  */
    uint64_t rules_digest;
    int64_t unit_ns; /* time unit of the model; 0: not recorded */
} mo_identity_options;

/* Fills *identity, a plain value that owns nothing. */
void mo_identity_make(const mo_instance *x, const mo_identity_options *options,
                      mo_identity *identity);

#endif
