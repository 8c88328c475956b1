/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "driver/suggest.h"

#include "coarsen/fusion_rules.h"
#include "cost/cluster.h"
#include "ingest/zoo.h"
#include "solvers/registry.h"
#include "solvers/search/method.h"

const char *mo_suggest_cluster(size_t i)
{
    return mo_cluster_builtins[i].name;
}

/* Behind the colon is a device of the cluster or a file. */
const char *mo_suggest_cost(size_t i)
{
    static const char *const kinds[] = { "roofline",
                                         "roofline:", "wave:", NULL };

    return kinds[i];
}

const char *mo_suggest_fusion(size_t i)
{
    return mo_fusion_rule_sets[i].name;
}

const char *mo_suggest_method(size_t i)
{
    size_t n = 0;

    while (mo_method_table[n])
        n++;
    return i < n ? mo_method_table[i]->name : i == n ? "all" : NULL;
}

const char *mo_suggest_solver(size_t i)
{
    return mo_solver_table[i] ? mo_solver_table[i]->name : NULL;
}

const char *mo_suggest_zoo(size_t i)
{
    return mo_zoo_models[i].name;
}
