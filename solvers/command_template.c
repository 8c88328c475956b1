/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "solvers/command_template.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/out.h"

enum { MODEL, SOLUTION, START, TIME, GAP, THREADS, N_PLACEHOLDERS };

static const char *const placeholders[N_PLACEHOLDERS] = {
    "{model}", "{solution}", "{start}", "{time}", "{gap}", "{threads}"
};

typedef struct expansion {
    const char *values[N_PLACEHOLDERS];
    char time[32], gap[32], threads[16];
    bool used[N_PLACEHOLDERS];
} expansion;

static mo_status expand(expansion *f, const char *text, mo_out *out,
                        mo_error *err)
{
    char quote = 0;

    while (*text) {
        int placeholder = 0;

        while (placeholder < N_PLACEHOLDERS &&
               strncmp(text, placeholders[placeholder],
                       strlen(placeholders[placeholder])) != 0)
            placeholder++;
        if (placeholder == N_PLACEHOLDERS) {
            /* An escaped character is not special. */
            if (*text == '\\' && quote != '\'' && text[1])
                mo_out_char(out, *text++);
            else {
                char c = *text;

                if (quote)
                    quote = c == quote ? 0 : quote;
                else
                    quote = c == '\'' || c == '"' ? c : 0;
            }
            mo_out_char(out, *text++);
            continue;
        }
        if (quote)
            return mo_fail(err, MO_E_USAGE,
                           "%s stands within quotes, and will be quoted: "
                           "take those away",
                           placeholders[placeholder]);
        /* Within single quotes only the closing quote is special. */
        const char *value = f->values[placeholder];

        mo_out_char(out, '\'');
        for (; *value; value++)
            if (*value == '\'')
                mo_out_text(out, "'\\''");
            else
                mo_out_char(out, *value);
        mo_out_char(out, '\'');
        f->used[placeholder] = true;
        text += strlen(placeholders[placeholder]);
    }
    return MO_OK;
}

static mo_status check_required(const expansion *f, mo_error *err)
{
    for (int i = MODEL; i <= SOLUTION; i++)
        if (!f->used[i])
            return mo_fail(err, MO_E_USAGE, "the command has no %s in it",
                           placeholders[i]);
    return MO_OK;
}

mo_status mo_command_template_expand(const char *text, const mo_solver_job *job,
                                     const char *solution, char **line,
                                     mo_error *err)
{
    expansion f = { .used = { false } };
    mo_out *out;
    mo_status status = mo_out_memory(&out, err);
    size_t size;

    if (status != MO_OK)
        return status;
    snprintf(f.time, sizeof f.time, "%.17g",
             job->time_s > 0 ? job->time_s : 1e20);
    snprintf(f.gap, sizeof f.gap, "%.17g", job->gap >= 0 ? job->gap : 1e-4);
    snprintf(f.threads, sizeof f.threads, "%d", job->threads);
    f.values[MODEL] = job->model;
    f.values[SOLUTION] = solution;
    f.values[START] = job->start ? job->start : "";
    f.values[TIME] = f.time;
    f.values[GAP] = f.gap;
    f.values[THREADS] = f.threads;
    status = expand(&f, text, out, err);
    if (status == MO_OK)
        status = check_required(&f, err);
    if (status == MO_OK) {
        *line = mo_out_take(out, &size);
        if (!*line)
            status = mo_fail_memory(err);
    }
    mo_out_abandon(out);
    return status;
}
