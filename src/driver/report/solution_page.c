/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "driver/report/solution_page.h"

#include <stdlib.h>
#include <string.h>

#include "solvers/search/method.h"

enum {
    MOST_COMPARED_OPS = 5000, /* by all of the default methods but getf */
    MOST_LP_OPS = 1000,       /* by getf, which solves an LP of their number */
    MOST_SEARCHED_OPS = 2000, /* the search runs again without each device */
    SEARCH_ROUNDS = -1        /* its start alone */
};

static mo_status check_review(const mo_review *first, const mo_review *r,
                              const char *name, mo_error *err)
{
    const mo_answer_evaluation *j = &r->evaluation;

    if (!mo_answer_evaluation_valid(j))
        return mo_fail_at(err, MO_E_INPUT, name, 0,
                          "is not valid: %s; moirai-check lists everything",
                          mo_answer_evaluation_count(j) > 0
                              ? mo_answer_evaluation_violation(j, 0)
                              : j->first_error);
    if (r->problem.instance->digest != first->problem.instance->digest)
        return mo_fail_at(err, MO_E_INPUT, name, 0,
                          "is of another graph or cluster than the first "
                          "solution; report it alone");
    if (memcmp(&r->regime, &first->regime, sizeof r->regime) != 0)
        return mo_fail_at(err, MO_E_INPUT, name, 0,
                          "has other rules than the first solution; give "
                          "--congestion, --tensors and --memory");
    if ((j->period_ns >= 0) != (first->evaluation.period_ns >= 0))
        return mo_fail_at(err, MO_E_INPUT, name, 0,
                          "has another objective than the first solution");
    return MO_OK;
}

/* Of the bounds of the file and of our own, the file's is named as claimed. */
static void take_bound(const mo_review *r, mo_page_placement *p)
{
    const mo_answer_evaluation *j = &r->evaluation;

    p->bound_ns = j->lower.bound_ns;
    p->bound_by = j->lower.which;
    /* The claim of a replicated solution is about all copies. */
    if (j->own_period_ns > 0)
        return;
    if (r->claim.has_bound && r->claim.bound_ns > p->bound_ns &&
        r->claim.bound_ns <= mo_answer_evaluation_objective_ns(j)) {
        p->claimed_ns = r->claim.bound_ns;
        p->claimed_by = r->claim.by[0] ? r->claim.by : "the solution";
    }
}

mo_status mo_solution_page_defaults(const mo_review *first,
                                    mo_solution_page_options *o, mo_error *err)
{
    static const mo_method *const latency[] = {
        &mo_method_single, &mo_method_heft, &mo_method_m_topo, &mo_method_m_etf,
        &mo_method_getf
    };
    static const mo_method *const period[] = { &mo_method_single,
                                               &mo_method_m_etf,
                                               &mo_method_dp_contiguous };
    bool is_period = first->evaluation.period_ns >= 0;
    bool is_large = first->problem.instance->n > MOST_COMPARED_OPS;

    o->n_methods = is_large    ? 2
                   : is_period ? sizeof period / sizeof *period
                               : sizeof latency / sizeof *latency;
    if (!is_large && !is_period && first->problem.instance->n > MOST_LP_OPS)
        o->n_methods--; /* getf is the last one */
    o->methods = calloc((size_t) o->n_methods, sizeof *o->methods);
    if (!o->methods)
        return mo_fail_memory(err);
    for (int i = 0; i < o->n_methods; i++)
        o->methods[i] = is_period ? period[i] : latency[i];
    return MO_OK;
}

/* Returns why there is no placement without each device, or NULL. */
static const char *no_ablation(const mo_instance *x)
{
    return x->n_devices < 2 ? "There is one device."
           : x->n > MOST_SEARCHED_OPS
               ? "Not computed: the page places up to 2000 ops again without "
                 "each device; moirai-place --ablation does it for any number."
               : NULL;
}

static mo_status compare_methods(const mo_solution_page_options *o,
                                 const mo_review *r, const mo_page_placement *p,
                                 mo_place_comparison *c, mo_error *err)
{
    const mo_instance *x = r->problem.instance;
    const mo_place_options place = { .seed = 1, .rounds = SEARCH_ROUNDS };
    const mo_place_context setting = {
        .options = &place,
        .regime = r->regime,
        .objective = r->evaluation.period_ns >= 0 ? MO_OBJECTIVE_PERIOD
                                                  : MO_OBJECTIVE_LATENCY,
        .in_flight = (int) r->origin.in_flight,
        .logger = o->logger,
        .begin_s = mo_driver_clock_s(),
    };
    mo_status status =
        mo_place_compare_methods(&setting, x, o->methods, o->n_methods, c, err);

    if (status != MO_OK || !o->ablation || no_ablation(x))
        return status;
    status = mo_place_ablation_run(&setting, x, &mo_method_moirai, 0, &c->study,
                                   err);
    /* A device without ops is worth nothing: the placement stays as it is. */
    for (int k = 0; k < x->n_devices && status == MO_OK; k++)
        if (p->shares->devices[k].n_ops == 0)
            c->study.losses[k] =
                (mo_report_device_loss){ .makespan_ns =
                                             mo_page_objective_ns(p) };
    c->report.losses = c->study.losses;
    return status;
}

static mo_status add_measured(const mo_solution_page_options *o,
                              mo_solution_page *made, mo_error *err)
{
    mo_page_measured *measured;
    mo_status status;

    if (!o->trace && !o->events)
        return MO_OK;
    made->arena = mo_arena_new();
    if (!made->arena)
        return mo_fail_memory(err);
    status = o->trace ? mo_trace_file_read(o->trace, made->page.x, made->arena,
                                           &measured, err)
                      : mo_trace_parse("the run", o->events, made->page.x,
                                       made->arena, &measured, err);
    if (status == MO_OK)
        made->page.measured = measured;
    return status;
}

/* Memory by liveness is that of many requests: only its peak is known. */
static mo_status profile_peaks(const mo_review *r, mo_memory_profile *profile,
                               mo_error *err)
{
    size_t n = (size_t) r->problem.instance->n_devices;

    profile->points = calloc(n, sizeof *profile->points);
    if (!profile->points)
        return mo_fail_memory(err);
    for (size_t k = 0; k < n; k++)
        profile->points[profile->n++] =
            (mo_memory_point){ .device = (int) k,
                               .bytes = r->evaluation.verdict->peak_bytes[k] };
    return MO_OK;
}

static mo_status make_part(const mo_review *r, mo_page_placement *p,
                           mo_solution_page_part *part, mo_error *err)
{
    const mo_instance *x = r->problem.instance;
    const mo_schedule *s = r->evaluation.schedule;
    mo_status status;

    if (r->evaluation.period_ns < 0) {
        status = mo_critical_path_find(x, s, &part->path, err);
        if (status == MO_OK)
            status = mo_live_memory_profile(x, s, &part->memory, err);
    } else {
        p->loads = &part->loads;
        status = mo_period_loads_compute(x, &r->regime, s->device, &part->loads,
                                         err);
        if (status == MO_OK)
            status = profile_peaks(r, &part->memory, err);
    }
    return status == MO_OK
               ? mo_time_shares_compute(x, mo_page_schedule(p),
                                        p->loads ? mo_page_span_ns(p) : 0,
                                        &part->path, &part->shares, err)
               : status;
}

/* Replication is an alternative to a pipeline. */
static mo_status add_replicas(const mo_review *r, mo_page *page, mo_error *err)
{
    const mo_place_context setting = { .regime = r->regime,
                                       .objective = MO_OBJECTIVE_PERIOD,
                                       .in_flight = (int) r->origin.in_flight };
    mo_report_methods found = { 0 };
    mo_status status =
        mo_place_find_replicas(&setting, r->problem.instance, &found, err);

    page->n_replicas = found.n_replicas;
    page->replicas_ns = found.replicas_ns;
    return status;
}

mo_status mo_solution_page_make(const mo_solution_page_options *o,
                                const mo_review *reviews,
                                const char *const *names, int n,
                                mo_solution_page *made, mo_error *err)
{
    const mo_review *first = &reviews[0];
    mo_status status = MO_OK;

    made->placements = calloc((size_t) n, sizeof *made->placements);
    made->parts = calloc((size_t) n, sizeof *made->parts);
    if (!made->placements || !made->parts)
        return mo_fail_memory(err);
    for (made->n = 0; made->n < n && status == MO_OK; made->n++) {
        int i = made->n;

        status = check_review(first, &reviews[i], names[i], err);
        if (status == MO_OK) {
            const mo_review *r = &reviews[i];
            mo_solution_page_part *part = &made->parts[i];
            mo_page_placement *p = &made->placements[i];

            *p = (mo_page_placement){ .name = names[i],
                                      .evaluation = &r->evaluation,
                                      .path = &part->path,
                                      .shares = &part->shares,
                                      .memory = &part->memory };
            status = make_part(r, p, part, err);
            take_bound(r, p);
        }
    }
    if (status != MO_OK)
        return status;
    made->page = (mo_page){
        .graph_file = first->located.graph,
        .cluster_file = first->problem.cluster->file,
        .graph = mo_problem_placed(&first->problem),
        .cluster = first->problem.cluster,
        .x = first->problem.instance,
        .regime = first->regime,
        .n = n,
        .placements = made->placements,
        .n_copies = o->n_copies,
        .copies_ns = o->copies_ns,
    };
    status = add_measured(o, made, err);
    if (status == MO_OK && (o->n_methods > 0 || o->ablation)) {
        status = compare_methods(o, first, &made->placements[0],
                                 &made->comparison, err);
        made->page.methods = &made->comparison.report;
        if (o->ablation)
            made->page.no_losses = no_ablation(first->problem.instance);
    }
    if (status == MO_OK && first->evaluation.period_ns >= 0)
        status = add_replicas(first, &made->page, err);
    return status;
}

void mo_solution_page_clear(mo_solution_page *made)
{
    for (int i = 0; i < made->n; i++) {
        mo_critical_path_clear(&made->parts[i].path);
        mo_time_shares_clear(&made->parts[i].shares);
        free(made->parts[i].memory.points);
        mo_period_loads_clear(&made->parts[i].loads);
    }
    free(made->parts);
    free(made->placements);
    mo_place_comparison_clear(&made->comparison);
    mo_arena_free(made->arena);
    *made = (mo_solution_page){ 0 };
}

static const char *format_by_name(const char *path)
{
    static const char *const ends[][2] = {
        { ".html", "html" },
        { ".svg", "svg" },
        { ".json", "json" },
        { ".txt", "text" },
    };
    size_t length = path ? strlen(path) : 0;

    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        size_t n = strlen(ends[i][0]);

        if (length > n && strcmp(path + length - n, ends[i][0]) == 0)
            return ends[i][1];
    }
    return length > 0 && strcmp(path, "-") != 0 ? "html" : "text";
}

mo_status mo_solution_page_write(const mo_page *page, const char *format,
                                 const char *path, int columns, mo_out *out,
                                 mo_error *err)
{
    if (!format)
        format = format_by_name(path);
    if (strcmp(format, "html") == 0)
        return mo_page_html(page, out, err);
    if (strcmp(format, "json") == 0)
        return mo_page_json(page, out, err);
    if (strcmp(format, "svg") == 0)
        return mo_page_svg(page, out, err);
    if (strcmp(format, "text") == 0)
        return mo_page_text(page, columns, out, err);
    if (strcmp(format, "trace") != 0)
        return mo_fail(err, MO_E_USAGE,
                       "a report is html, text, svg, json or trace, not %s",
                       format);
    mo_page_trace(page, out);
    return MO_OK;
}
