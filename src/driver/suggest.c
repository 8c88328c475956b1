/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "driver/suggest.h"

#include "coarsen/fusion_rules.h"
#include "cost/cluster.h"
#include "driver/plugin/plugin.h"
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
    int n = 0;

    /* A plug-in that cannot be loaded is an error where methods are used. */
    (void) mo_plugin_load_listed(NULL);
    while (mo_method_at(n))
        n++;
    return i < (size_t) n    ? mo_method_at((int) i)->name
           : i == (size_t) n ? "all"
                             : NULL;
}

const char *mo_suggest_solver(size_t i)
{
    const mo_solver *solver;

    (void) mo_plugin_load_listed(NULL);
    solver = mo_solver_at((int) i);
    return solver ? solver->name : NULL;
}

const char *mo_suggest_zoo(size_t i)
{
    return mo_zoo_models[i].name;
}

const char *mo_suggest_command(size_t i)
{
    static const char *const names[] = {
        "benchmark", "check", "cluster", "coarsen", "emit",  "exec", "export",
        "info",      "place", "profile", "report",  "solve", "zoo"
    };

    return i < sizeof names / sizeof *names ? names[i] : NULL;
}
