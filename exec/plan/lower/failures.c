/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ops that cannot be lowered. All are found before the build fails, and
 * reported by cause: the causes are one line each, however many ops share
 * them.
 */
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/minmax.h"
#include "exec/plan/lower/lower_internal.h"

/* The line for several ops that lack the same. */
static const struct {
    const char *what, *remedy;
} lacks[] = {
    [MO_PLAN_LACKS_SHAPES] = { "have no fixed shape or no dtype that can be "
                               "run",
                               "execution needs both for every output, "
                               "moirai-graph(5)" },
    [MO_PLAN_LACKS_WEIGHTS] = { "have no weights",
                                "run with --random-weights 1 to use random "
                                "ones, or give their shapes by the attribute "
                                "weights, moirai-graph(5)" },
};

/* Returns the text behind "op 'name' (Type): ". */
static const char *cause_of(const char *text, const char *name)
{
    size_t length = strlen(name);
    const char *colon =
        strlen(text) > length ? strstr(text + length, "): ") : NULL;

    return colon ? colon : text;
}

static bool is_same_cause(const mo_plan_lower_state *l,
                          const mo_plan_lower_failure *f, int id,
                          const mo_error *why)
{
    const char *type = l->ops[id].type, *other = l->ops[f->ops[0]].type;

    if (f->lacks != l->lacks)
        return false;
    return f->lacks != MO_PLAN_LACKS_NOTHING ||
           (strcmp(type ? type : "", other ? other : "") == 0 &&
            strcmp(cause_of(f->first.text, l->g->ops[f->ops[0]].name),
                   cause_of(why->text, l->g->ops[id].name)) == 0);
}

mo_status mo_plan_lower_note_failure(mo_plan_lower_state *l, int id,
                                     mo_status status, const mo_error *why,
                                     mo_error *err)
{
    mo_plan_lower_failure *f = NULL;

    if (l->lacks_data || (status != MO_E_SUPPORT && status != MO_E_INPUT &&
                          status != MO_E_LIMIT)) {
        if (err)
            *err = *why;
        return status;
    }
    for (size_t i = 0; i < l->n_failures && !f; i++)
        if (is_same_cause(l, &l->failures[i], id, why))
            f = &l->failures[i];
    if (!f) {
        status =
            MO_ARRAY_GROW(l->failures, l->n_failures, l->failures_room, err);
        if (status != MO_OK)
            return status;
        f = &l->failures[l->n_failures++];
        *f = (mo_plan_lower_failure){ .lacks = l->lacks, .first = *why };
        f->first.line = l->g->ops[id].line;
    }
    if (f->n < MO_PLAN_LOWER_NAMED_OPS)
        f->ops[f->n] = id;
    f->n++;
    return MO_OK;
}

/* Writes "'a' (Foo), 'b' (Bar) and 3 more". */
static void write_names(const mo_plan_lower_state *l, const int *ops, int n,
                        char *text, size_t size)
{
    size_t at = 0;

    for (int i = 0; i < n && i < MO_PLAN_LOWER_NAMED_OPS && at < size; i++) {
        const mo_op *op = &l->g->ops[ops[i]];
        const char *type = l->ops[ops[i]].type;

        at += (size_t) snprintf(text + at, size - at, "%s'%.80s' (%.40s)",
                                i == 0       ? ""
                                : i == n - 1 ? " and "
                                             : ", ",
                                op->name, type ? type : "no type");
    }
    if (n > MO_PLAN_LOWER_NAMED_OPS && at < size)
        snprintf(text + at, size - at, " and %d more",
                 n - MO_PLAN_LOWER_NAMED_OPS);
}

/* Fills why with the line for all ops of a failure. */
static void describe_failure(const mo_plan_lower_state *l,
                             const mo_plan_lower_failure *f, mo_error *why)
{
    char names[MO_ERROR_TEXT_SIZE / 2];

    *why = f->first;
    if (f->n == 1)
        return;
    write_names(l, f->ops, f->n, names, sizeof names);
    if (f->lacks != MO_PLAN_LACKS_NOTHING)
        mo_fail(why, f->first.status, "%d ops %s: %s; %s", f->n,
                lacks[f->lacks].what, names, lacks[f->lacks].remedy);
    else
        mo_fail(why, f->first.status, "%.800s (and %d more of this type)",
                f->first.text, f->n - 1);
    why->line = f->first.line;
}

mo_status mo_plan_lower_report_failures(const mo_plan_lower_state *l,
                                        mo_error *err)
{
    const mo_plan_source *source = l->source;
    char names[MO_ERROR_TEXT_SIZE / 2];
    int n = 0, ops[MO_PLAN_LOWER_NAMED_OPS];
    mo_error why;

    if (l->n_failures == 0)
        return MO_OK;
    for (size_t i = 0; i < l->n_failures; i++) {
        describe_failure(l, &l->failures[i], &why);
        if (source->on_unsupported)
            source->on_unsupported(source->context, why.line, why.text);
        if (i < MO_PLAN_LOWER_NAMED_OPS)
            ops[i] = l->failures[i].ops[0];
        n += l->failures[i].n;
    }
    if (l->n_failures == 1) {
        if (err)
            *err = why;
        return why.status;
    }
    /* One op of each cause. */
    write_names(l, ops,
                (int) mo_min_size(l->n_failures, MO_PLAN_LOWER_NAMED_OPS),
                names, sizeof names);
    return mo_fail(err, l->failures[0].first.status,
                   "%d ops cannot be run, among them %s", n, names);
}
