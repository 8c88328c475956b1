#include "solvers/search/timed_crowd.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

mo_status mo_timed_crowd_new(const mo_timed_case *c, mo_timed_crowd **crowd,
                             mo_error *err)
{
    mo_timed_crowd *made = calloc(1, sizeof *made);
    size_t size;

    if (made && mo_size_mul((size_t) c->n_resources, (size_t) c->cells, &size))
        made->load = calloc(size, sizeof *made->load);
    if (!made || !made->load) {
        free(made);
        return mo_fail_memory(err);
    }
    made->c = c;
    *crowd = made;
    return MO_OK;
}

void mo_timed_crowd_free(mo_timed_crowd *crowd)
{
    if (!crowd)
        return;
    free(crowd->load);
    free(crowd);
}

void mo_timed_crowd_empty(mo_timed_crowd *crowd)
{
    memset(crowd->load, 0,
           (size_t) crowd->c->n_resources * (size_t) crowd->c->cells *
               sizeof *crowd->load);
}

static void add_job(mo_timed_crowd *crowd, const mo_timed_job *job,
                    double times)
{
    const mo_timed_case *c = crowd->c;
    double *load = crowd->load + (size_t) job->resource * (size_t) c->cells;
    int64_t end = job->start + job->length;

    for (int64_t g = job->start / c->cell; g < c->cells && g * c->cell < end;
         g++) {
        int64_t from = g * c->cell, to = from + c->cell;

        from = from > job->start ? from : job->start;
        to = to < end ? to : end;
        load[g] +=
            times * job->weight * (double) (to - from) / (double) c->cell;
    }
}

void mo_timed_crowd_add(mo_timed_crowd *crowd, const mo_timed_pattern *pattern,
                        double times)
{
    for (int i = 0; i < pattern->n_jobs; i++)
        add_job(crowd, &pattern->jobs[i], times);
}

double mo_timed_crowd_worst(mo_timed_crowd *crowd, int resource,
                            mo_timed_interval *worst)
{
    int cells = crowd->c->cells, first = 0;
    double *load = crowd->load + (size_t) resource * (size_t) cells;
    double sum = 0, most = 0;

    *worst = (mo_timed_interval){ resource, 0, 0 };
    for (int g = 0; g < cells; g++) {
        sum += load[g] - 1;
        if (sum < 0) {
            sum = 0;
            first = g + 1;
        }
        if (sum > most) {
            most = sum;
            worst->first = first;
            worst->last = g + 1;
        }
    }
    for (int g = worst->first; g < worst->last; g++)
        load[g] = 1;
    return most;
}
