/* SPDX-License-Identifier: Apache-2.0 */
#include "coarsen/gcof.h"

#include <stdlib.h>
#include <string.h>

#include "coarsen/operator_cache.h"

/*
 * The paper walks the graph depth first, binds what may become a rule, fuses
 * what did and unbinds the rest.  Since a link may only be followed when it is
 * the one way out of an op, every op has at most one successor to be fused
 * with, and the same result is had without binding: from every op, try to read
 * a rule along those successors.  Longest rules first, heads in topological
 * order, each op used once; what spells no whole rule was never bound.
 *
 * The coarse graph cannot have a cycle.  A group is left only through its last
 * op; a way back into it would come from there and arrive at one of its ops,
 * from which the last op is reached again: a cycle in g.
 */

/* The op that alone reads what op puts out, or -1. */
static int sole_reader(const mo_graph *g, int op)
{
    int reader = -1;

    if (g->ops[op].is_output)
        return -1;
    for (int e = g->out_start[op]; e < g->out_start[op + 1]; e++) {
        if (reader >= 0 && g->edges[e].to != reader)
            return -1;
        reader = g->edges[e].to;
    }
    return reader;
}

static bool same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

static bool may_share(const mo_op *a, const mo_op *b)
{
    return same_text(a->pin, b->pin) && same_text(a->colocate, b->colocate);
}

static int count_producers(const mo_graph *g, int op)
{
    int n = 0, last = -1;

    for (int i = g->in_start[op]; i < g->in_start[op + 1]; i++) {
        int from = g->edges[g->in_edges[i]].from;

        /* Two distinct ones are all that any role asks for. */
        if (from != last && n < 2)
            n++;
        last = from;
    }
    return n;
}

static void find_links(const mo_graph *g, int *next,
                       mo_fusion_candidate *subjects)
{
    mo_operator_cache known = { 0 };

    for (int i = 0; i < g->n_ops; i++) {
        const char *type = g->ops[i].type;
        int reader = sole_reader(g, i);

        next[i] =
            reader >= 0 && may_share(&g->ops[i], &g->ops[reader]) ? reader : -1;
        subjects[i] =
            (mo_fusion_candidate){ type, mo_operator_cache_find(&known, type),
                                   count_producers(g, i) };
    }
}

/* Does the chain that starts at head, over ops still free, spell rule? */
static bool spells(const mo_fusion_rule *rule, int head, const int *next,
                   const mo_fusion_candidate *subjects, const int *group)
{
    int at = head;

    for (int k = 0; k < rule->n; k++, at = next[at])
        if (at < 0 || group[at] >= 0 ||
            !mo_fusion_pattern_matches(&rule->words[k], &subjects[at]))
            return false;
    return true;
}

/* The first rule of those from first on, all of one length, that fits. */
static const mo_fusion_rule *find_rule(const mo_fusion_rules *rules, int first,
                                       int last, int head, const int *next,
                                       const mo_fusion_candidate *subjects,
                                       const int *group)
{
    for (int r = first; r < last; r++)
        if (spells(&rules->rules[r], head, next, subjects, group))
            return &rules->rules[r];
    return NULL;
}

/* Groups are marked with their head for the time being. */
static void match_length(const mo_graph *g, const mo_fusion_rules *rules,
                         int first, int last, const int *next,
                         const mo_fusion_candidate *subjects, int *group)
{
    for (int head = 0; head < g->n_ops; head++) {
        const mo_fusion_rule *rule;
        int at = head;

        if (group[head] >= 0)
            continue;
        rule = find_rule(rules, first, last, head, next, subjects, group);
        for (int k = 0; rule && k < rule->n; k++, at = next[at])
            group[at] = head;
    }
}

/* From heads to numbers: a head comes before the others of its group. */
static int number_groups(int n_ops, int *group)
{
    int n = 0;

    for (int i = 0; i < n_ops; i++)
        group[i] = group[i] < 0 || group[i] == i ? n++ : group[group[i]];
    return n;
}

mo_status mo_gcof_match(const mo_graph *g, const mo_fusion_rules *rules,
                        int *group, int *n_groups, mo_error *err)
{
    int *next = calloc((size_t) g->n_ops + 1, sizeof *next);
    mo_fusion_candidate *subjects =
        calloc((size_t) g->n_ops + 1, sizeof *subjects);
    mo_status status = next && subjects ? MO_OK : mo_fail_memory(err);

    if (status == MO_OK) {
        find_links(g, next, subjects);
        for (int i = 0; i < g->n_ops; i++)
            group[i] = -1;
        for (int first = 0, last; first < rules->n; first = last) {
            for (last = first; last < rules->n &&
                               rules->rules[last].n == rules->rules[first].n;)
                last++;
            match_length(g, rules, first, last, next, subjects, group);
        }
        *n_groups = number_groups(g->n_ops, group);
    }
    free(next);
    free(subjects);
    return status;
}

mo_status mo_gcof(const mo_graph *g, const mo_gcof_options *options,
                  mo_graph **coarse, mo_coarsen_map **map, mo_error *err)
{
    int *group = calloc((size_t) g->n_ops + 1, sizeof *group);
    mo_grouping grouping = { .group = group,
                             .fused_us = options->fused_us,
                             .context = options->context,
                             .merge_parallel = options->merge_parallel };
    mo_status status =
        group ? mo_gcof_match(g, options->rules, group, &grouping.n_groups, err)
              : mo_fail_memory(err);

    if (status == MO_OK)
        status = mo_contract(g, &grouping, coarse, map, err);
    free(group);
    return status;
}
