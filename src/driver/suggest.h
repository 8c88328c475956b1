/* SPDX-License-Identifier: Apache-2.0 */
/*
 * suggest.h - names in the registries, for --help and completions of options:
 * a new method, solver, cluster, rule set or network appears by itself.
 */
#ifndef MO_DRIVER_SUGGEST_H
#define MO_DRIVER_SUGGEST_H

#include <stddef.h>

/* Return name i, borrowed; NULL behind the last. See mo_option_suggest. */
const char *mo_suggest_cluster(size_t i);
const char *mo_suggest_command(size_t i); /* "emit" for moirai-emit */
const char *mo_suggest_cost(size_t i);
const char *mo_suggest_fusion(size_t i);
const char *mo_suggest_method(size_t i); /* with "all" */
const char *mo_suggest_solver(size_t i);
const char *mo_suggest_zoo(size_t i);

#endif
