/* SPDX-License-Identifier: Apache-2.0 */
#include "coarsen/clean.h"

#include <stdlib.h>
#include <string.h>

#include "coarsen/clean_internal.h"
#include "coarsen/contract.h"

const mo_clean_pass mo_clean_passes[] = {
    { "constants", "fold what depends on no input, but through a static shape",
      false, mo_clean_mark_constants },
    { "sources", "inputs, and views of them, are wherever they are read", false,
      mo_clean_mark_sources },
    { "results", "outputs are remembered by what makes them", false,
      mo_clean_mark_results },
    { "views", "what only looks at a tensor joins what makes it", false,
      mo_clean_mark_views },
    { "parallel", "edges of one tensor between the same ops become one", true,
      mo_clean_mark_nothing },
    { NULL, NULL, false, NULL },
};

/* From first members to numbers. */
static int number_groups(int n_ops, int *group)
{
    int n = 0;

    for (int i = 0; i < n_ops; i++)
        if (group[i] == i)
            group[i] = n++;
        else if (group[i] >= 0)
            group[i] = group[group[i]];
    return n;
}

static bool has_parallels(const mo_graph *g)
{
    for (int e = 1; e < g->n_edges; e++)
        if (g->edges[e].tensor == g->edges[e - 1].tensor &&
            g->edges[e].to == g->edges[e - 1].to)
            return true;
    return false;
}

/* Leaves *clean and *map as they are when there is nothing to take out. */
static mo_status run_pass(const mo_clean_pass *pass, const mo_graph *g,
                          mo_graph **clean, mo_coarsen_map **map, mo_error *err)
{
    int *group = calloc((size_t) g->n_ops + 1, sizeof *group);
    bool *silent = calloc((size_t) g->n_ops + 1, sizeof *silent);
    mo_grouping grouping = { .group = group,
                             .silent = silent,
                             .merge_parallel = pass->merges_edges };
    mo_status status = group && silent ? MO_OK : mo_fail_memory(err);

    if (status == MO_OK) {
        pass->mark(g, group, silent);
        grouping.n_groups = number_groups(g->n_ops, group);
        if (grouping.n_groups < g->n_ops ||
            (pass->merges_edges && has_parallels(g)))
            status = mo_contract(g, &grouping, clean, map, err);
    }
    free(group);
    free(silent);
    return status;
}

/* Puts what a pass made in the place of what was there before. */
static mo_status replace(mo_graph **g, mo_coarsen_map **map, mo_graph *after,
                         mo_coarsen_map *moved, mo_error *err)
{
    mo_coarsen_map *whole = moved;
    mo_status status = MO_OK;

    if (*map) {
        status = mo_coarsen_map_compose(*map, moved, &whole, err);
        mo_coarsen_map_free(moved);
    }
    if (status != MO_OK) {
        mo_graph_free(after);
        return status;
    }
    mo_graph_free(*g);
    mo_coarsen_map_free(*map);
    *g = after;
    *map = whole;
    return MO_OK;
}

/* Runs one pass on *g or, before the first that took anything out, on what was
 * given. */
static mo_status step(const mo_clean_pass *pass, const mo_graph *given,
                      mo_graph **g, mo_coarsen_map **map, int *removed,
                      mo_error *err)
{
    const mo_graph *before = *g ? *g : given;
    mo_graph *after = NULL;
    mo_coarsen_map *moved = NULL;
    mo_status status = run_pass(pass, before, &after, &moved, err);

    if (status != MO_OK || !after)
        return status;
    *removed = pass->merges_edges ? before->n_edges - after->n_edges
                                  : before->n_ops - after->n_ops;
    return replace(g, map, after, moved, err);
}

mo_status mo_clean_unless_noop(const mo_graph *g, unsigned which,
                               mo_graph **clean, mo_coarsen_map **map,
                               mo_clean_report *report, mo_error *err)
{
    mo_graph *made = NULL;
    mo_coarsen_map *whole = NULL;
    mo_status status = MO_OK;

    memset(report, 0, sizeof *report);
    for (int k = 0; k < MO_CLEAN_PASSES && status == MO_OK; k++)
        if (which & 1u << k)
            status = step(&mo_clean_passes[k], g, &made, &whole,
                          &report->removed[k], err);
    if (status != MO_OK) {
        mo_graph_free(made);
        mo_coarsen_map_free(whole);
        return status;
    }
    *clean = made;
    *map = whole;
    return MO_OK;
}

static mo_status copy(const mo_graph *g, mo_graph **clean, mo_coarsen_map **map,
                      mo_error *err)
{
    int *group = calloc((size_t) g->n_ops + 1, sizeof *group);
    mo_grouping grouping = { .group = group, .n_groups = g->n_ops };
    mo_status status;

    if (!group)
        return mo_fail_memory(err);
    for (int i = 0; i < g->n_ops; i++)
        group[i] = i;
    status = mo_contract(g, &grouping, clean, map, err);
    free(group);
    return status;
}

mo_status mo_clean(const mo_graph *g, unsigned which, mo_graph **clean,
                   mo_coarsen_map **map, mo_clean_report *report, mo_error *err)
{
    mo_graph *made = NULL;
    mo_coarsen_map *whole = NULL;
    mo_status status =
        mo_clean_unless_noop(g, which, &made, &whole, report, err);

    if (status == MO_OK && !made)
        status = copy(g, &made, &whole, err);
    if (status != MO_OK)
        return status;
    *clean = made;
    *map = whole;
    return MO_OK;
}

/* The bit of the pass whose name is the length bytes at word; 0 if none. */
static unsigned bit_of(const char *word, size_t length)
{
    if (length == 3 && strncmp(word, "all", length) == 0)
        return MO_CLEAN_ALL;
    for (int k = 0; k < MO_CLEAN_PASSES; k++)
        if (strlen(mo_clean_passes[k].name) == length &&
            strncmp(mo_clean_passes[k].name, word, length) == 0)
            return 1u << k;
    return 0;
}

mo_status mo_clean_parse(const char *text, unsigned *which, mo_error *err)
{
    unsigned bits = *text == '-' ? MO_CLEAN_ALL : 0;

    for (const char *word = text;; word++) {
        size_t length = strcspn(word, ",");
        bool is_off = length > 0 && *word == '-';
        unsigned bit = bit_of(word + is_off, length - is_off);

        if (bit == 0 && !(length == 4 && strncmp(word, "none", 4) == 0))
            return mo_fail(err, MO_E_USAGE,
                           "'%.*s' is no cleaning pass; there are constants, "
                           "sources, results, views and parallel, and all and "
                           "none",
                           (int) length, word);
        bits = is_off ? bits & ~bit : bits | bit;
        word += length;
        if (*word == '\0')
            break;
    }
    *which = bits;
    return MO_OK;
}
