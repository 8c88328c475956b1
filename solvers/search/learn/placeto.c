#include "solvers/search/learn/placeto.h"

#include <stdlib.h>
#include <string.h>

#include "schedule/mean.h"
#include "solvers/search/learn/draw.h"
#include "solvers/search/learn/told.h"

/* An episode tells all units of a graph anew for each of its parts: so many
 * parts that this stays bounded, but never fewer than a few.  Up to 64 units
 * each is a part of its own, as in print. */
enum { PARTS_MOST = 64, PARTS_LEAST = 4, TOLD_MOST = 1 << 16 };

/* Pairs of units that are looked at; see reach.h. */
enum { PAIRS_MOST = 1 << 22 };

/* Small graphs were tried: with less evenness at first a policy is sure before
 * it knows enough. */
static const double rate = 0.01, evenness = 0.3, tires = 0.98;

/* -------------------------------------------------------------------- units */

/* Edges between units, those of one unit left out, each as often as it is in
 * the graph: more messages are heard louder. */
static mo_status list_neighbours(const mo_placeto *p, bool parents,
                                 mo_lists *lists, mo_error *err)
{
    const mo_instance *x = p->task->x;
    const int *of = p->units->of_op;
    int *at;

    lists->start = calloc((size_t) p->n + 2, sizeof *lists->start);
    lists->list = calloc((size_t) x->n_flows + 1, sizeof *lists->list);
    at = calloc((size_t) p->n + 2, sizeof *at);
    if (!lists->start || !lists->list || !at) {
        free(at);
        return mo_fail_memory(err);
    }
    for (int q = 0; q < x->n_flows; q++) {
        int u = of[x->flows[q].from], v = of[x->flows[q].to];

        if (u != v)
            lists->start[(parents ? v : u) + 1]++;
    }
    for (int u = 0; u < p->n; u++)
        at[u + 1] = lists->start[u + 1] += lists->start[u];
    for (int q = 0; q < x->n_flows; q++) {
        int u = of[x->flows[q].from], v = of[x->flows[q].to];

        if (u != v)
            lists->list[at[parents ? v : u]++] = parents ? u : v;
    }
    free(at);
    return MO_OK;
}

static mo_status tell_fixed(mo_placeto *p, mo_error *err)
{
    const mo_instance *x = p->task->x;
    double mean = mo_told_mean_ns(x, p->units);
    int64_t *rows = NULL;
    mo_status status = mo_mean_rows(x, &rows, err);

    p->fixed =
        calloc((size_t) p->n * (size_t) p->n_features + 1, sizeof *p->fixed);
    if (status == MO_OK && !p->fixed)
        status = mo_fail_memory(err);
    for (int u = 0; u < p->n && status == MO_OK; u++) {
        mo_real *to = p->fixed + (size_t) u * (size_t) p->n_features;
        double sends = 0;

        for (int k = 0; k < p->n_devices; k++)
            to[k] = mo_told_small(mo_told_unit_ns(x, p->units, u, k), mean);
        for (int j = p->units->start[u]; j < p->units->start[u + 1]; j++) {
            int op = p->units->ops[j];

            for (int q = x->out_start[op]; q < x->out_start[op + 1]; q++)
                sends += (double) mo_mean_flow_ns(x, &p->task->regime, rows, q);
        }
        to[p->n_devices] = mo_told_small(sends, mean);
    }
    free(rows);
    return status;
}

/* -------------------------------------------------------------------- parts */

static mo_status make_parts(mo_placeto *p, mo_error *err)
{
    int n = TOLD_MOST / (p->n + 1);

    if (n > PARTS_MOST)
        n = PARTS_MOST;
    if (n < PARTS_LEAST)
        n = PARTS_LEAST;
    if (n > p->n)
        n = p->n;
    p->n_parts = n;
    p->first = calloc((size_t) n + 1, sizeof *p->first);
    if (!p->first)
        return mo_fail_memory(err);
    for (int c = 0; c <= n; c++)
        p->first[c] = (int) ((int64_t) p->n * c / n);
    return MO_OK;
}

mo_status mo_placeto_make(const mo_task *task, const mo_units *units,
                          mo_placeto *placeto, mo_error *err)
{
    mo_placeto *p = placeto;
    int window = PAIRS_MOST / (units->n + 1);
    mo_status status;

    p->task = task;
    p->units = units;
    p->n = units->n;
    p->n_devices = p->about[0] = task->x->n_devices;
    p->n_features = 2 * p->n_devices + MO_PLACETO_TOLD;
    if (window > p->n)
        window = p->n;
    status = make_parts(p, err);
    if (status == MO_OK)
        status = list_neighbours(p, true, &p->parents, err);
    if (status == MO_OK)
        status = list_neighbours(p, false, &p->children, err);
    if (status == MO_OK)
        status = mo_reach_make(p->n, &p->parents, window, &p->near, err);
    if (status == MO_OK)
        status = tell_fixed(p, err);
    if (status == MO_OK)
        status = mo_told_begin(task->x, units, &p->begin, err);
    if (status == MO_OK)
        status = mo_placeto_weights(p, task->seed, err);
    return status;
}

void mo_placeto_clear(mo_placeto *placeto)
{
    free(placeto->first);
    mo_lists_clear(&placeto->parents);
    mo_lists_clear(&placeto->children);
    mo_reach_clear(&placeto->near);
    free(placeto->fixed);
    free(placeto->begin);
    mo_weights_clear(&placeto->weights);
}

/* ----------------------------------------------------------------- episodes */

/* What an episode needs while it goes on. */
typedef struct desk {
    mo_real *features;
    int64_t *starts;
    int *device;
} desk;

static mo_status open_desk(const mo_placeto *p, const int *begin, desk *d,
                           mo_error *err)
{
    d->features =
        calloc((size_t) p->n * (size_t) p->n_features + 1, sizeof *d->features);
    d->starts = calloc((size_t) p->task->x->n + 1, sizeof *d->starts);
    d->device = calloc((size_t) p->n + 1, sizeof *d->device);
    if (!d->features || !d->starts || !d->device)
        return mo_fail_memory(err);
    memcpy(d->device, begin, (size_t) p->n * sizeof *d->device);
    return MO_OK;
}

static void close_desk(desk *d)
{
    free(d->features);
    free(d->starts);
    free(d->device);
}

static mo_var logs_of(const mo_placeto *p, mo_tape *tape, desk *d, int c)
{
    mo_tape_wipe(tape);
    mo_placeto_features(p, d->device, c, d->starts, d->features);
    return mo_placeto_logs(p, tape, d->features, c);
}

static mo_status choose_part(const mo_placeto *p, mo_tape *tape, desk *d, int c,
                             mo_random *random, bool likeliest, mo_error *err)
{
    mo_var logs = logs_of(p, tape, d, c);
    int k = p->n_devices;

    if (mo_tape_failed(tape))
        return mo_fail_memory(err);
    for (int u = p->first[c]; u < p->first[c + 1]; u++) {
        const mo_real *row = mo_tape_values(tape, logs) +
                             (size_t) (u - p->first[c]) * (size_t) k;

        d->device[u] =
            likeliest ? mo_draw_likeliest(row, k) : mo_draw(row, k, random);
    }
    return MO_OK;
}

/* What a placement comes to is known anyway after each part: the best counts,
 * wherever in the episode it was. */
static mo_status judge(const mo_placeto *p, mo_score *score, const int *now,
                       double *is, int *device, mo_drawn *drawn, mo_error *err)
{
    mo_scored scored;
    mo_status status = mo_score_of(score, now, &scored, err);

    if (status != MO_OK)
        return status;
    *is = drawn->mean = scored.score;
    if (mo_score_better(&scored, &drawn->best)) {
        drawn->best = scored;
        memcpy(device, now, (size_t) p->n * sizeof *device);
    }
    return MO_OK;
}

static mo_status attend(const mo_pupil *pupil, mo_tape *tape, mo_score *score,
                        mo_random *random, bool likeliest, int *choices,
                        int *device, double *scores, mo_drawn *drawn,
                        mo_error *err)
{
    const mo_placeto *p = pupil->context;
    desk d = { 0 };
    mo_status status = open_desk(p, device, &d, err);

    memcpy(choices + p->n, device, (size_t) p->n * sizeof *choices);
    if (status == MO_OK)
        status = judge(p, score, d.device, &scores[0], device, drawn, err);
    for (int c = 0; c < p->n_parts && status == MO_OK; c++) {
        status = choose_part(p, tape, &d, c, random, likeliest, err);
        if (status == MO_OK)
            status =
                judge(p, score, d.device, &scores[c + 1], device, drawn, err);
    }
    if (status == MO_OK)
        memcpy(choices, d.device, (size_t) p->n * sizeof *choices);
    close_desk(&d);
    return status;
}

static mo_status learn_part(const mo_placeto *p, mo_tape *tape, desk *d, int c,
                            const int *choices, double advantage,
                            double entropy, double *factors, mo_error *err)
{
    mo_var logs = logs_of(p, tape, d, c), chosen, even;
    int n = p->first[c + 1] - p->first[c];

    for (int i = 0; i < n; i++)
        factors[i] = -advantage;
    chosen = mo_tape_total(
        tape, mo_tape_picked(tape, logs, choices + p->first[c], factors));
    even = mo_tape_scaled(tape, mo_draw_unevenness(tape, logs), entropy);
    mo_tape_back(tape, mo_tape_sum(tape, chosen, even));
    memcpy(d->device + p->first[c], choices + p->first[c],
           (size_t) n * sizeof *choices);
    return mo_tape_failed(tape) ? mo_fail_memory(err) : MO_OK;
}

static mo_status learn(const mo_pupil *pupil, mo_tape *tape, const int *choices,
                       const double *advantage, double entropy, mo_error *err)
{
    const mo_placeto *p = pupil->context;
    double *factors = calloc((size_t) p->n + 1, sizeof *factors);
    desk d = { 0 };
    mo_status status =
        factors ? open_desk(p, choices + p->n, &d, err) : mo_fail_memory(err);

    for (int c = 0; c < p->n_parts && status == MO_OK; c++)
        status = learn_part(p, tape, &d, c, choices, advantage[c], entropy,
                            factors, err);
    close_desk(&d);
    free(factors);
    return status;
}

mo_pupil mo_placeto_pupil(mo_placeto *placeto)
{
    return (mo_pupil){
        .kind = "placeto",
        .weights = &placeto->weights,
        .about = placeto->about,
        .n_about = 1,
        .n_choices = 2 * placeto->n, /* and what it went on from */
        .begin = placeto->begin,
        .resumes = true,
        .n_parts = placeto->n_parts,
        .rate = rate,
        .entropy = evenness,
        .tires = tires,
        .context = placeto,
        .attend = attend,
        .learn = learn,
    };
}
