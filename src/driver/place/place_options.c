/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "driver/place/place_options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver/plugin/plugin.h"
#include "solvers/registry.h"
#include "solvers/search/replan/replan.h"

typedef struct choice {
    const mo_method **methods; /* capacity for all methods */
    int n;
} choice;

static bool is_chosen(const choice *c, const mo_method *method)
{
    for (int i = 0; i < c->n; i++)
        if (c->methods[i] == method)
            return true;
    return false;
}

static mo_status choose_method(choice *c, const char *name, mo_error *err)
{
    const mo_method *method = mo_method_find(name);

    if (!method) {
        /* "moirai, single, ..." */
        char list[512] = "";
        size_t length = 0;

        for (int i = 0; mo_method_at(i) && length < sizeof list; i++)
            length +=
                (size_t) snprintf(list + length, sizeof list - length, "%s%s",
                                  i > 0 ? ", " : "", mo_method_at(i)->name);
        return mo_fail(err, MO_E_USAGE,
                       "there is no method '%s'; there are %s, and all", name,
                       list);
    }
    if (is_chosen(c, method))
        return mo_fail(err, MO_E_USAGE, "--method names %s twice", name);
    c->methods[c->n++] = method;
    return MO_OK;
}

static mo_status choose_names(choice *c, const char *names, mo_error *err)
{
    mo_status status = MO_OK;

    for (const char *at = names; status == MO_OK;) {
        size_t length = strcspn(at, ",");
        char name[32];

        if (length == 0)
            return mo_fail(err, MO_E_USAGE,
                           "--method wants names with commas between them");
        snprintf(name, sizeof name, "%.*s", (int) length, at);
        if (strcmp(name, "all") == 0) {
            for (int i = 0; mo_method_at(i); i++)
                if (mo_method_at(i)->all && !is_chosen(c, mo_method_at(i)))
                    c->methods[c->n++] = mo_method_at(i);
        } else
            status = choose_method(c, name, err);
        if (at[length] == '\0')
            break;
        at += length + 1;
    }
    return status;
}

/* A policy belongs to one method and one number of devices; a curve to one
 * method. */
static mo_status check_learning(const mo_place_options *o, const choice *c,
                                mo_error *err)
{
    const char *option = o->policy        ? "--policy"
                         : o->curve       ? "--curve"
                         : o->no_learning ? "--no-learning"
                                          : NULL;
    bool has_file = o->policy || o->curve;
    int n = 0;

    for (int i = 0; i < c->n; i++)
        n += c->methods[i]->learns;
    if (option && n == 0)
        return mo_fail(err, MO_E_USAGE,
                       "%s is for a method that learns; name one, as in "
                       "--method placeto",
                       option);
    if (has_file && n > 1)
        return mo_fail(err, MO_E_USAGE,
                       "%s is for one method that learns, and --method names "
                       "%d; run one at a time",
                       option, n);
    if (has_file && o->ablation)
        return mo_fail(err, MO_E_USAGE,
                       "%s and --ablation do not go together: with fewer "
                       "devices all is learned anew; leave one out",
                       option);
    return MO_OK;
}

mo_status mo_place_count_replicas(const mo_place_options *o, int *n,
                                  mo_error *err)
{
    const char *text = o->replicas;
    char *end;
    long value;

    *n = 1;
    if (!text)
        return MO_OK;
    *n = 0;
    if (strcmp(text, "auto") == 0)
        return MO_OK;
    value = strtol(text, &end, 10);
    if (text[0] < '1' || text[0] > '9' || *end || value > 1000)
        return mo_fail(err, MO_E_USAGE,
                       "--replicas '%.40s' is no number of copies from 1 to "
                       "1000, nor auto",
                       text);
    *n = (int) value;
    return MO_OK;
}

/* Other methods do not know what moves cost. */
static mo_status check_replan(const mo_place_options *o, mo_error *err)
{
    if (o->move_cost > 0 && !o->from)
        return mo_fail(err, MO_E_USAGE, "--move-cost needs --from FILE");
    if (o->move_cost > 0 && o->methods.count > 0)
        return mo_fail(err, MO_E_USAGE,
                       "--move-cost and --method do not go together: leave one "
                       "out");
    if (o->from && o->ablation)
        return mo_fail(err, MO_E_USAGE,
                       "--from and --ablation do not go together: give "
                       "--drop-device DEVICE");
    if (o->replicas && (o->from || o->stress > 0 || o->ablation))
        return mo_fail(err, MO_E_USAGE,
                       "--replicas and %s do not go together: leave one out",
                       o->from         ? "--from"
                       : o->stress > 0 ? "--stress"
                                       : "--ablation");
    if (o->stress > 0 && (o->move_cost > 0 || o->ablation))
        return mo_fail(err, MO_E_USAGE,
                       "--stress and %s do not go together: leave one out",
                       o->ablation ? "--ablation" : "--move-cost");
    return MO_OK;
}

mo_status mo_place_select_methods(const mo_place_options *options,
                                  const mo_method ***methods, int *n,
                                  mo_error *err)
{
    choice c = { 0 };
    int most = 0;
    mo_status status = mo_plugin_load_listed(err);

    if (status != MO_OK)
        return status;
    while (mo_method_at(most))
        most++;
    c.methods = malloc(((size_t) most + 1) * sizeof *c.methods);
    if (!c.methods)
        return mo_fail_memory(err);
    if (options->from)
        c.methods[c.n++] = &mo_method_replan;
    else if (options->methods.count == 0)
        c.methods[c.n++] = mo_method_at(0);
    for (size_t i = 0; i < options->methods.count && status == MO_OK; i++)
        status = choose_names(&c, options->methods.items[i], err);
    if (status == MO_OK)
        status = check_learning(options, &c, err);
    if (status == MO_OK)
        status = check_replan(options, err);
    if (status != MO_OK) {
        free(c.methods);
        return status;
    }
    *methods = c.methods;
    *n = c.n;
    return MO_OK;
}

mo_status mo_place_assist_solver(const mo_place_options *options,
                                 const mo_solver **solver,
                                 mo_solver_install *found, mo_error *err)
{
    const char *name =
        options->assist ? options->assist : mo_solver_table[0]->name;
    const mo_solver *wanted = mo_solver_by_name(name);
    mo_status status;

    *solver = NULL;
    if (!wanted)
        return MO_OK; /* "none" */
    status = wanted->find(NULL, found, err);
    if (status != MO_OK)
        return status;
    if (found->program || (found->library && wanted->solve)) {
        *solver = wanted;
        /* Queries the version in the form that will be used: the library where
         * there is one. */
        bool by_library = found->library && wanted->solve;

        return mo_solver_query_version(
            wanted, by_library ? MO_SOLVER_VIA_LIBRARY : MO_SOLVER_VIA_PROCESS,
            found, err);
    }
    return options->assist
               ? mo_fail(err, MO_E_SUPPORT,
                         "%s was not found; take another (moirai-solve "
                         "--list), or --assist none",
                         wanted->title)
               : MO_OK;
}
