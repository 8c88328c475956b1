/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ablation.h - switches of an ablation study: the environment variable
 * MOIRAI_ABLATE is a list of mechanisms, separated by commas, that do not run
 * ("MOIRAI_ABLATE=spine,refutation").  Names are those of ablation.def; others
 * are ignored.
 *
 * For benchmarks and tests alone: results stay valid, only quality and speed
 * change.
 */
#ifndef MO_BASE_ABLATION_H
#define MO_BASE_ABLATION_H

#include <stdbool.h>

typedef enum mo_ablation {
#define MO_ABLATION(name, kind) MO_ABLATION_##name,
#include "base/ablation.def"
#undef MO_ABLATION
    MO_N_ABLATIONS
} mo_ablation;

/* Returns whether the mechanism is switched off.  Reads the environment: for
 * planning, not for inner loops.  Thread-safe while no thread changes the
 * environment. */
bool mo_ablated(mo_ablation mechanism);

/* Whether a list of names separated by commas, or NULL, has the name. */
bool mo_ablation_list_has(const char *list, const char *name);

#endif
