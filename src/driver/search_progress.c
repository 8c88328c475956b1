/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "driver/search_progress.h"

#include <stdio.h>

#include "base/minmax.h"
#include "report/format_units.h"

enum { TEXT_SIZE = 128 };

static void compose(int64_t best_ns, int64_t bound_ns, char text[TEXT_SIZE])
{
    double best = (double) best_ns, bound = (double) bound_ns;
    char incumbent[MO_FORMAT_SIZE] = "-", lower[MO_FORMAT_SIZE] = "-";
    char gap[MO_FORMAT_SIZE + 16] = "", percent[MO_FORMAT_SIZE];

    if (best_ns != INT64_MAX)
        mo_format_time(best_ns, incumbent);
    if (bound_ns > 0)
        mo_format_time(bound_ns, lower);
    if (best_ns != INT64_MAX && bound_ns > 0)
        snprintf(gap, sizeof gap, ", gap %s %%",
                 mo_format_percent((best - bound) / best, percent));
    snprintf(text, TEXT_SIZE, "best %s, bound %s%s", incumbent, lower, gap);
}

void mo_search_progress_detail(mo_progress *line, int64_t best_ns,
                               int64_t bound_ns, const char *step)
{
    char text[TEXT_SIZE];

    compose(best_ns, bound_ns, text);
    mo_progress_detail(line, "%s%s%s", text, step ? ", " : "",
                       step ? step : "");
}

void mo_search_progress_begin(mo_search_progress *progress,
                              const mo_driver_log *logger, const char *what)
{
    *progress = (mo_search_progress){ .logger = logger,
                                      .what = what,
                                      .makespan_ns = INT64_MAX };
    mo_driver_log_step(logger, &progress->line, what);
}

void mo_search_progress_end(mo_search_progress *progress)
{
    mo_progress_end(&progress->line);
}

void mo_search_progress_report(void *context, const mo_method_progress *news)
{
    mo_search_progress *p = context;
    bool better =
        news->makespan_ns < p->makespan_ns || news->lower_ns > p->lower_ns;
    char text[TEXT_SIZE];

    p->makespan_ns = mo_min_i64(p->makespan_ns, news->makespan_ns);
    p->lower_ns = mo_max_i64(p->lower_ns, news->lower_ns);
    mo_search_progress_detail(&p->line, p->makespan_ns, p->lower_ns,
                              news->what);
    if (!better)
        return;
    compose(p->makespan_ns, p->lower_ns, text);
    mo_driver_log_info(p->logger, "%s: %s, %.1f s%s%s", p->what, text,
                       news->seconds, news->what ? ": " : "",
                       news->what ? news->what : "");
}
