/* SPDX-License-Identifier: Apache-2.0 */
/* Report of missing numbers, one line for every cause. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "cost/instance/instance_internal.h"

static mo_instance_missing_group *find_group(mo_instance_maker *m,
                                             const mo_instance_missing *what)
{
    for (int i = 0; i < m->n_groups; i++) {
        mo_instance_missing_group *group = &m->groups[i];

        if (group->kind == what->kind &&
            strcmp(group->reason, what->reason) == 0 &&
            strcmp(group->lacks, what->lacks) == 0)
            return group;
    }
    return NULL;
}

void mo_instance_maker_add_missing(mo_instance_maker *m,
                                   const mo_instance_missing *what,
                                   const char *format, ...)
{
    mo_instance_missing_group *group = find_group(m, what);
    char name[MO_INSTANCE_MISSING_NAMES / 2];
    va_list args;
    size_t length;

    m->n_missing++;
    if (!group && m->n_groups == MO_INSTANCE_MISSING_GROUPS)
        return;
    if (!group) {
        group = &m->groups[m->n_groups++];
        *group = (mo_instance_missing_group){ .kind = what->kind,
                                              .file = what->file,
                                              .line = what->line,
                                              .remedy = what->remedy };
        snprintf(group->reason, sizeof group->reason, "%s", what->reason);
        snprintf(group->lacks, sizeof group->lacks, "%s", what->lacks);
    }
    group->n++;
    va_start(args, format);
    vsnprintf(name, sizeof name, format, args);
    va_end(args);
    /* Names are appended as long as there is room for a line. */
    length = strlen(group->names);
    if (length > sizeof group->names / 2 || group->n_names == 3)
        return;
    snprintf(group->names + length, sizeof group->names - length, "%s%s",
             length > 0 ? ", " : "", name);
    group->n_names++;
}

static void format_group(const mo_instance_missing_group *group, char *text,
                         size_t size)
{
    char more[32] = "";

    if (group->n == 1) {
        snprintf(text, size, "%s%s %s has %s; add %s", group->reason,
                 group->kind, group->names, group->lacks, group->remedy);
        return;
    }
    if (group->n > group->n_names)
        snprintf(more, sizeof more, " and %d more", group->n - group->n_names);
    snprintf(text, size, "%s%d %ss have %s: %s%s; add %s", group->reason,
             group->n, group->kind, group->lacks, group->names, more,
             group->remedy);
}

mo_status mo_instance_maker_check_missing(const mo_instance_maker *m,
                                          mo_error *err)
{
    char first[MO_INSTANCE_MISSING_SIZE], text[MO_INSTANCE_MISSING_SIZE];

    if (m->n_groups == 0)
        return MO_OK;
    format_group(&m->groups[0], first, sizeof first);
    if (m->n_groups == 1)
        return mo_fail_at(err, MO_E_INPUT, m->groups[0].file, m->groups[0].line,
                          "%s", first);
    for (int i = 0; i < m->n_groups && m->options->missing; i++) {
        format_group(&m->groups[i], text, sizeof text);
        m->options->missing(m->options->context, m->groups[i].file,
                            m->groups[i].line, text);
    }
    return mo_fail(err, MO_E_INPUT,
                   "%d ops and edges lack a number, the first: %s",
                   m->n_missing, first);
}
