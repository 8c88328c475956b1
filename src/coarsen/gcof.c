/* SPDX-License-Identifier: Apache-2.0 */
#include "coarsen/gcof.h"

#include <stdlib.h>
#include <string.h>

#include "ingest/operator.h"

/*
 * The paper walks the graph depth first, binds what may become a rule, fuses
 * what did and unbinds the rest. Since a link may only be followed when it is
 * the only way out of an op, every op has at most one successor to be fused
 * with, and the same result is obtained without binding: from every op, try to
 * match a rule along those successors. Longest rules first, heads in
 * topological order, each op used once; a chain that matches no whole rule was
 * never bound.
 *
 * The coarse graph cannot have a cycle. A group is left only through its last
 * op; a way back into it would come from there and arrive at one of its ops,
 * from which the last op is reached again: a cycle in g.
 */

/* Returns the only op that reads the outputs of op, or -1. */
static int sole_consumer(const mo_graph *g, int op)
{
    int consumer = -1;

    if (g->ops[op].is_output)
        return -1;
    for (int e = g->out_start[op]; e < g->out_start[op + 1]; e++) {
        if (consumer >= 0 && g->edges[e].to != consumer)
            return -1;
        consumer = g->edges[e].to;
    }
    return consumer;
}

static bool same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

static int count_producers(const mo_graph *g, int op)
{
    int n = 0, last = -1;

    for (int i = g->in_start[op]; i < g->in_start[op + 1]; i++) {
        int from = g->edges[g->in_edges[i]].from;

        /* Roles distinguish one producer from several: counting stops at 2. */
        if (from != last && n < 2)
            n++;
        last = from;
    }
    return n;
}

/* Returns whether the chain of unfused ops that starts at head matches rule. */
static bool matches_rule(const mo_fusion_rule *rule, int head, const int *next,
                         const mo_fusion_candidate *candidates,
                         const int *group)
{
    int at = head;

    for (int k = 0; k < rule->n; k++, at = next[at])
        if (at < 0 || group[at] >= 0 ||
            !mo_fusion_pattern_matches(&rule->words[k], &candidates[at]))
            return false;
    return true;
}

/* Returns the first matching rule of [first, last), all of one length, or
 * NULL. */
static const mo_fusion_rule *find_rule(const mo_fusion_rules *rules, int first,
                                       int last, int head, const int *next,
                                       const mo_fusion_candidate *candidates,
                                       const int *group)
{
    for (int r = first; r < last; r++)
        if (matches_rule(&rules->rules[r], head, next, candidates, group))
            return &rules->rules[r];
    return NULL;
}

mo_status mo_gcof_match(const mo_graph *g, const mo_fusion_rules *rules,
                        int *group, int *n_groups, mo_error *err)
{
    int *next = calloc((size_t) g->n_ops + 1, sizeof *next);
    mo_fusion_candidate *candidates =
        calloc((size_t) g->n_ops + 1, sizeof *candidates);
    mo_status status = next && candidates ? MO_OK : mo_fail_memory(err);

    if (status == MO_OK) {
        for (int i = 0; i < g->n_ops; i++) {
            const char *type = g->ops[i].type;
            int consumer = sole_consumer(g, i);

            next[i] = consumer >= 0 &&
                              (same_text(g->ops[i].pin, g->ops[consumer].pin) &&
                               same_text(g->ops[i].colocate,
                                         g->ops[consumer].colocate))
                          ? consumer
                          : -1;
            candidates[i] = (mo_fusion_candidate){ type, g->ops[i].kind,
                                                   count_producers(g, i) };
        }
        for (int i = 0; i < g->n_ops; i++)
            group[i] = -1;
        for (int first = 0, last; first < rules->n; first = last) {
            for (last = first; last < rules->n &&
                               rules->rules[last].n == rules->rules[first].n;)
                last++;
            /* Until groups are renumbered, each is identified by its head. */
            for (int head = 0; head < g->n_ops; head++) {
                const mo_fusion_rule *rule;
                int at = head;

                if (group[head] >= 0)
                    continue;
                rule = find_rule(rules, first, last, head, next, candidates,
                                 group);
                for (int k = 0; rule && k < rule->n; k++, at = next[at])
                    group[at] = head;
            }
        }
        /* Renumbers groups: a head precedes the other members of its group. */
        *n_groups = 0;
        for (int i = 0; i < g->n_ops; i++)
            group[i] =
                group[i] < 0 || group[i] == i ? (*n_groups)++ : group[group[i]];
    }
    free(next);
    free(candidates);
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
