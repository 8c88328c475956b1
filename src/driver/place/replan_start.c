/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "driver/place/replan_start.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/intern.h"
#include "base/reader.h"
#include "cost/cluster/route.h"
#include "cost/instance/sub_instance.h"
#include "driver/review.h"
#include "schedule/heuristic/heft.h"
#include "schedule/period/loads.h"
#include "schedule/period/modulo_schedule.h"
#include "solvers/answer/placement_list.h"

enum { BITS_OF_BYTE = 8, MOST_DROPPED = 64 };

/* Returns the device of that name, or MO_FREE. */
static int find_device(const mo_instance *x, const char *name)
{
    for (int k = 0; k < x->n_devices; k++)
        if (strcmp(x->device_ids[k], name) == 0)
            return k;
    return MO_FREE;
}

static mo_status drop_device(mo_place_replan *r, const char *name,
                             mo_error *err)
{
    const int device = find_device(r->x, name);
    int pinned;
    mo_instance *part = NULL;
    mo_status status;

    if (device == MO_FREE)
        return mo_fail(err, MO_E_USAGE,
                       "--drop-device: there is no device '%.80s'", name);
    if (r->x->n_devices == 1)
        return mo_fail(err, MO_E_USAGE, "--drop-device leaves no device over");
    pinned = mo_instance_first_pinned_to(r->x, device);
    if (pinned != MO_FREE)
        return mo_fail(err, MO_E_INFEASIBLE,
                       "--drop-device %.60s: op '%.100s' is pinned to it", name,
                       r->x->op_names[pinned]);
    status = mo_instance_without_device(r->x, device, &part, err);
    if (status != MO_OK)
        return status;
    r->parts[r->n_parts++] = part;
    r->x = part;
    memmove(r->in_whole + device, r->in_whole + device + 1,
            (size_t) (part->n_devices - device) * sizeof *r->in_whole);
    return MO_OK;
}

static mo_status drop_devices(mo_place_replan *r, const mo_option_list *dropped,
                              mo_error *err)
{
    mo_status status = MO_OK;

    if (dropped->count > MOST_DROPPED)
        return mo_fail(err, MO_E_LIMIT, "more than %d times --drop-device",
                       MOST_DROPPED);
    r->parts = calloc(dropped->count + 1, sizeof(mo_instance *));
    r->in_whole = calloc((size_t) r->whole->n_devices + 1, sizeof *r->in_whole);
    if (!r->parts || !r->in_whole)
        return mo_fail_memory(err);
    for (int k = 0; k < r->whole->n_devices; k++)
        r->in_whole[k] = k;
    for (size_t i = 0; i < dropped->count && status == MO_OK; i++)
        status = drop_device(r, dropped->items[i], err);
    return status;
}

/* Takes over a placement of an instance by the names of ops and devices. */
static mo_status match_names(mo_place_replan *r, const mo_instance *old,
                             const int *device, mo_error *err)
{
    mo_arena *arena = mo_arena_new();
    mo_intern *ops = arena ? mo_intern_new(arena) : NULL;
    mo_status status = ops ? MO_OK : mo_fail_memory(err);
    int number;

    for (int i = 0; i < old->n && status == MO_OK; i++)
        status = mo_intern_put(ops, old->op_names[i], strlen(old->op_names[i]),
                               &number, err);
    for (int i = 0; i < r->whole->n && status == MO_OK; i++) {
        const char *name = r->whole->op_names[i];
        int at = mo_intern_find(ops, name, strlen(name));

        if (at < 0)
            continue;
        r->from[i] = strdup(old->device_ids[device[at]]);
        status = r->from[i] ? MO_OK : mo_fail_memory(err);
    }
    mo_intern_free(ops);
    mo_arena_free(arena);
    return status;
}

/* A list of another network's ops is one of names. */
static mo_status read_list(mo_place_replan *r, const char *path, char *text,
                           size_t size, mo_error *err)
{
    const mo_instance *x = r->whole;
    int *device = calloc((size_t) x->n + 1, sizeof *device);
    mo_status status =
        device ? mo_placement_list_match(path, text, size, x, device, err)
               : mo_fail_memory(err);

    for (int i = 0; i < x->n && status == MO_OK; i++)
        if (device[i] != MO_FREE) {
            r->from[i] = strdup(x->device_ids[device[i]]);
            status = r->from[i] ? MO_OK : mo_fail_memory(err);
        }
    free(device);
    return status;
}

/* Takes over the schedule of an evaluation of the instance x; names alone where
 * that is not the one to be placed. */
static mo_status take_evaluation(mo_place_replan *r, const char *path,
                                 const mo_instance *x,
                                 mo_answer_evaluation *evaluation,
                                 mo_error *err)
{
    mo_schedule *s = evaluation->schedule;
    mo_status status;

    if (!s)
        return mo_fail_at(err, MO_E_INPUT, path, 0,
                          "holds no placement: %.300s",
                          evaluation->first_error);
    if (evaluation->n_further > 0)
        return mo_fail_at(err, MO_E_INPUT, path, 0,
                          "has %d copies of the network, and --from takes one "
                          "pipeline; place without --replicas, or search anew",
                          1 + evaluation->n_further);
    status = match_names(r, x, s->device, err);
    if (status == MO_OK && x == r->whole) {
        r->old = s;
        evaluation->schedule = NULL;
    }
    return status;
}

/* A solution of this instance is decoded; of any other its own graph and
 * cluster are found first. */
static mo_status read_solution(mo_place_replan *r, const mo_place_context *c,
                               const char *path, const char *text, size_t size,
                               mo_error *err)
{
    const mo_prepare_options defaults = MO_REVIEW_DEFAULTS;
    const mo_review_source from = { .prepare = &defaults,
                                    .tolerance = MO_ANSWER_TOLERANCE,
                                    .logger = c->logger,
                                    .without_bound = true };
    mo_answer_evaluation evaluation = { 0 };
    mo_provenance origin = { 0 };
    mo_solution *solution = NULL;
    mo_review review = { 0 };
    mo_status status =
        mo_solution_read_memory(path, text, size, &solution, err);

    if (status == MO_OK && solution->n <= 0)
        status = mo_fail_at(err, MO_E_INPUT, path, 0, "holds no placement");
    if (status == MO_OK)
        status = mo_answer_provenance(solution, &origin, err);
    if (status == MO_OK && origin.has_instance &&
        origin.instance == r->whole->digest) {
        status =
            mo_answer_evaluate_solution(solution, &origin, r->whole, &c->regime,
                                        from.tolerance, &evaluation, err);
        if (status == MO_OK)
            status = take_evaluation(r, path, r->whole, &evaluation, err);
    } else if (status == MO_OK) {
        status = mo_review_file(&from, path, &review, err);
        if (status == MO_OK)
            status = take_evaluation(r, path, review.problem.instance,
                                     &review.evaluation, err);
    }
    mo_answer_evaluation_clear(&evaluation);
    mo_review_clear(&review);
    mo_solution_free(solution);
    return status;
}

static mo_status read_old(mo_place_replan *r, const mo_place_context *c,
                          mo_error *err)
{
    const char *path = c->options->from;
    char *text = NULL;
    size_t size;
    mo_status status;

    r->from = calloc((size_t) r->whole->n + 1, sizeof *r->from);
    if (!r->from)
        return mo_fail_memory(err);
    status = mo_reader_all(path, &text, &size, err);
    if (status == MO_OK)
        status = mo_placement_list_sniff(text)
                     ? read_list(r, path, text, size, err)
                     : read_solution(r, c, path, text, size, err);
    free(text);
    for (int i = 0; i < r->whole->n && status == MO_OK; i++)
        if (r->from[i])
            return MO_OK;
    return status != MO_OK || r->whole->n == 0
               ? status
               : mo_fail_at(err, MO_E_INPUT, path, 0,
                            "places no op of this network: name a placement of "
                            "it, or leave out --from");
}

/* The time of a byte between all devices of the whole: by the routes of the
 * cluster. */
static mo_status time_links(mo_place_replan *r, const mo_cluster *cluster,
                            mo_error *err)
{
    const int n = r->whole->n_devices;
    mo_routes *routes = NULL;
    mo_status status = mo_routes_make(cluster, &routes, err);

    if (status != MO_OK)
        return status;
    r->link_ns = calloc((size_t) n * (size_t) n + 1, sizeof *r->link_ns);
    for (int64_t pair = 0; r->link_ns && pair < (int64_t) n * n; pair++) {
        double gbps = routes->routes[pair].gbps;

        r->link_ns[pair] = pair % (n + 1) == 0 ? 0
                           : gbps > 0          ? BITS_OF_BYTE / gbps
                                               : -1;
    }
    mo_routes_free(routes);
    return r->link_ns ? MO_OK : mo_fail_memory(err);
}

/* Spreads the times of the links over the requests of --move-cost. */
static mo_status price_moves(mo_place_replan *r, double requests, mo_error *err)
{
    const int n = r->x->n_devices;

    if (requests <= 0)
        return MO_OK;
    r->byte_ns = calloc((size_t) n * (size_t) n + 1, sizeof *r->byte_ns);
    if (!r->byte_ns)
        return mo_fail_memory(err);
    for (int a = 0; a < n; a++)
        for (int b = 0; b < n; b++) {
            double ns =
                r->link_ns[(int64_t) r->in_whole[a] * r->whole->n_devices +
                           r->in_whole[b]];

            if (ns < 0)
                return mo_fail(err, MO_E_INPUT,
                               "--move-cost: the cluster has no link from "
                               "'%.60s' to '%.60s'; add one",
                               r->x->device_ids[a], r->x->device_ids[b]);
            r->byte_ns[(int64_t) a * n + b] = ns / requests;
        }
    r->start.byte_ns = r->byte_ns;
    return MO_OK;
}

/* Sets the start on x. */
static mo_status set_start(mo_place_replan *r, mo_error *err)
{
    r->device = calloc((size_t) r->x->n + 1, sizeof *r->device);
    if (!r->device)
        return mo_fail_memory(err);
    for (int i = 0; i < r->x->n; i++)
        r->device[i] = r->from[i] ? find_device(r->x, r->from[i]) : MO_FREE;
    r->start.device = r->device;
    if (r->x == r->whole)
        r->start.schedule = r->old;
    return MO_OK;
}

/* The value of the placement in use, with its own order where that is known. */
static mo_status evaluate_old(mo_place_replan *r, const mo_place_context *c,
                              mo_error *err)
{
    const mo_instance *x = r->whole;
    const mo_regime free_memory = { c->regime.congestion, c->regime.tensors,
                                    MO_MEMORY_NONE };
    int *device = calloc((size_t) x->n + 1, sizeof *device);
    int64_t *used = calloc((size_t) x->n_devices + 1, sizeof *used);
    bool is_complete = true;
    mo_status status = device && used ? MO_OK : mo_fail_memory(err);

    r->report.before_ns = -1;
    for (int i = 0; i < x->n && status == MO_OK; i++) {
        device[i] = r->from[i] ? find_device(x, r->from[i]) : MO_FREE;
        is_complete = is_complete && device[i] != MO_FREE;
        if (device[i] != MO_FREE && r->device[i] == MO_FREE)
            r->report.before_uses_dropped = true;
    }
    if (status == MO_OK && is_complete && !r->old)
        status = mo_heft(x, &free_memory, device, &r->old, err);
    if (status == MO_OK && r->old) {
        r->old->regime = c->regime;
        status = mo_period_objective(x, c->objective, c->in_flight, r->old,
                                     &r->report.before_ns, err);
        if (status == MO_OK && c->objective == MO_OBJECTIVE_LATENCY)
            status =
                mo_schedule_fits_memory(x, r->old, &r->report.before_fits, err);
        else
            r->report.before_fits =
                mo_period_fits_memory(x, c->regime.memory, device, used);
    }
    free(device);
    free(used);
    return status;
}

mo_status mo_place_replan_open(mo_place_replan *r, const mo_place_context *c,
                               const mo_option_list *dropped,
                               const mo_instance *whole,
                               const mo_cluster *cluster, mo_error *err)
{
    mo_status status;

    r->whole = r->x = whole;
    status = drop_devices(r, dropped, err);
    if (status != MO_OK || !c->options->from)
        return status;
    status = read_old(r, c, err);
    if (status == MO_OK)
        status = time_links(r, cluster, err);
    if (status == MO_OK)
        status = set_start(r, err);
    if (status == MO_OK)
        status = price_moves(r, c->options->move_cost, err);
    return status == MO_OK ? evaluate_old(r, c, err) : status;
}

void mo_place_replan_clear(mo_place_replan *r)
{
    for (int i = 0; r->from && i < r->whole->n; i++)
        free(r->from[i]);
    while (r->n_parts > 0)
        mo_instance_free(r->parts[--r->n_parts]);
    mo_replicas_clear(r->copies, r->n_copies);
    mo_schedule_free(r->old);
    mo_schedule_free(r->placed);
    free(r->report.moves);
    free(r->from);
    free(r->link_ns);
    free(r->byte_ns);
    free(r->device);
    free(r->in_whole);
    free(r->parts);
    *r = (mo_place_replan){ 0 };
}

/* Devices of x keep their order in the whole, and so do transfers. */
static mo_status map_to_whole(mo_place_replan *r, const mo_schedule *s,
                              mo_error *err)
{
    int *device = calloc((size_t) s->n + 1, sizeof *device);
    mo_status status = device ? MO_OK : mo_fail_memory(err);

    for (int i = 0; i < s->n && status == MO_OK; i++)
        device[i] = r->in_whole[s->device[i]];
    if (status == MO_OK)
        status = mo_schedule_new(r->whole, &s->regime, device, &r->placed, err);
    free(device);
    if (status != MO_OK)
        return status;
    memcpy(r->placed->start_ns, s->start_ns,
           (size_t) s->n * sizeof *s->start_ns);
    for (int t = 0; t < s->n_transfers; t++) {
        r->placed->transfers[t].start_ns = s->transfers[t].start_ns;
        r->placed->transfers[t].end_ns = s->transfers[t].end_ns;
    }
    r->placed->makespan_ns = s->makespan_ns;
    return MO_OK;
}

/* A replicated result: placed is the first copy, with the times of list
 * scheduling. */
static mo_status map_copies(mo_place_replan *r, const mo_place_context *c,
                            const mo_place_comparison *compared, mo_error *err)
{
    const mo_regime free_memory = { c->regime.congestion, c->regime.tensors,
                                    MO_MEMORY_NONE };
    mo_status status = MO_OK;

    for (int i = 0; i < compared->copies.n && status == MO_OK; i++) {
        const mo_replica *from = &compared->copies.copies[i];
        mo_replica *copy = &r->copies[i];

        copy->period_ns = from->period_ns;
        copy->device = calloc((size_t) r->whole->n + 1, sizeof *copy->device);
        if (!copy->device)
            return mo_fail_memory(err);
        r->n_copies++;
        for (int j = 0; j < r->whole->n; j++)
            copy->device[j] = r->in_whole[from->device[j]];
    }
    r->period_ns = compared->copies.period_ns;
    r->bound_ns = compared->copies.bound_ns;
    status =
        mo_heft(r->whole, &free_memory, r->copies[0].device, &r->placed, err);
    if (r->placed)
        r->placed->regime = c->regime;
    return status;
}

/* Weights of new ops, and those of devices that are gone, take no link. */
static void add_move(mo_place_replan *r, int op, double *ns)
{
    mo_report_replan *report = &r->report;
    int from = r->from[op] ? find_device(r->whole, r->from[op]) : MO_FREE;
    int to = r->placed->device[op];

    if (from == to)
        return;
    report->moves[report->n_moves++] =
        (mo_report_move){ .op = r->whole->op_names[op],
                          .from = r->from[op],
                          .to = r->whole->device_ids[to],
                          .bytes = r->whole->weight_bytes[op] };
    report->bytes += r->whole->weight_bytes[op];
    if (r->device[op] == MO_FREE || r->whole->weight_bytes[op] == 0)
        return;
    double byte_ns = r->link_ns[(int64_t) from * r->whole->n_devices + to];

    *ns = *ns < 0 || byte_ns < 0
              ? -1
              : *ns + byte_ns * (double) r->whole->weight_bytes[op];
}

mo_status mo_place_replan_finish(mo_place_replan *r, const mo_place_context *c,
                                 const mo_place_comparison *compared,
                                 mo_error *err)
{
    const mo_place_result *best = mo_place_comparison_best(compared);
    mo_report_replan *report = &r->report;
    double ns = 0;
    mo_status status;

    if (mo_place_comparison_is_replicated(compared))
        return map_copies(r, c, compared, err);
    if (!best)
        return MO_OK;
    status = map_to_whole(r, best->placed.schedule, err);
    if (status != MO_OK || !c->options->from)
        return status;
    report->moves = calloc((size_t) r->whole->n + 1, sizeof *report->moves);
    if (!report->moves)
        return mo_fail_memory(err);
    for (int i = 0; i < r->whole->n; i++)
        add_move(r, i, &ns);
    report->file = c->options->from;
    report->n_ops = r->whole->n;
    report->after_ns = best->row.makespan_ns;
    report->move_ns = ns < 9e18 ? (int64_t) ns : -1;
    return MO_OK;
}
