#include "solvers/search/rl/hrl.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "solvers/search/rl/nn/categorical.h"

/* rate: of learning; fades: how much of what was expected remains with each
 * episode. */
static const double rate = 0.01, fades = 0.9;

/* What the evenness of all units is worth together at first, and how much of it
 * remains with each batch: small graphs are learned too soon, and there is time
 * to begin anew. */
typedef struct spirit {
    double evenness, tires;
} spirit;

static const spirit small_graphs = { 8, 0.985 }, others = { 3.6, 0.995 };

mo_status mo_hrl_make(const mo_task *task, const mo_units *units, mo_hrl *hrl,
                      mo_error *err)
{
    mo_status status;

    hrl->task = task;
    hrl->units = units;
    hrl->n = units->n;
    hrl->n_devices = hrl->about[0] = task->x->n_devices;
    hrl->n_groups = hrl->n < MO_HRL_GROUPS ? hrl->n : MO_HRL_GROUPS;
    status = mo_hrl_tell(hrl, err);
    return status == MO_OK ? mo_hrl_weights(hrl, task->seed, err) : status;
}

void mo_hrl_clear(mo_hrl *hrl)
{
    free(hrl->told);
    free(hrl->begins);
    free(hrl->flow_ns);
    free(hrl->begin);
    mo_weights_clear(&hrl->weights);
}

/* ------------------------------------------------------------------ drawing */

static int choose(const mo_real *logs, int n, mo_random *random, bool likeliest)
{
    return likeliest ? mo_draw_likeliest(logs, n) : mo_draw(logs, n, random);
}

static mo_status draw_grouping(const mo_hrl *h, mo_tape *tape,
                               mo_random *random, bool likeliest, int *group,
                               mo_error *err)
{
    mo_var logs = mo_hrl_grouper(h, tape);

    if (mo_tape_failed(tape))
        return mo_fail_memory(err);
    for (int u = 0; u < h->n; u++)
        group[u] = choose(mo_tape_values(tape, logs) +
                              (size_t) u * (size_t) h->n_groups,
                          h->n_groups, random, likeliest);
    return MO_OK;
}

/* chosen: by group, then placement.  Where the likeliest is wanted it is the
 * first, so that the others teach something, too. */
static mo_status draw_devices(const mo_hrl *h, mo_tape *tape,
                              const mo_hrl_groups *groups, mo_random *random,
                              bool likeliest, int *chosen, mo_error *err)
{
    mo_hrl_placer placer = mo_hrl_placer_begin(h, tape, groups, MO_HRL_DRAWN);

    for (int t = 0; t < groups->n; t++) {
        mo_var known = mo_hrl_placer_step(&placer, t, chosen), logs;
        int at[MO_HRL_DRAWN];

        for (int i = 0; i < MO_HRL_DRAWN; i++)
            at[i] = t;
        logs = mo_hrl_placer_logs(&placer, known, at);
        if (mo_tape_failed(tape))
            return mo_fail_memory(err);
        for (int i = 0; i < MO_HRL_DRAWN; i++)
            chosen[t * MO_HRL_DRAWN + i] =
                choose(mo_tape_values(tape, logs) + i * h->n_devices,
                       h->n_devices, random, likeliest && i == 0);
    }
    return MO_OK;
}

static mo_status draw(const mo_hrl *h, mo_tape *tape, mo_random *random,
                      bool likeliest, int *choices, mo_hrl_groups *groups,
                      mo_error *err)
{
    mo_status status;

    mo_tape_wipe(tape);
    status = draw_grouping(h, tape, random, likeliest, choices, err);
    if (status == MO_OK)
        status = mo_hrl_groups_make(h, choices, groups, err);
    mo_tape_wipe(tape);
    if (status == MO_OK && groups->n > 0)
        status = draw_devices(h, tape, groups, random, likeliest,
                              choices + h->n, err);
    return status;
}

/* -------------------------------------------------------------------- school
 */

static void place_units(const mo_hrl *h, const mo_hrl_groups *groups,
                        const int *chosen, int i, int *device)
{
    for (int u = 0; u < h->n; u++)
        device[u] = groups->of_unit[u] < 0
                        ? h->units->pin[u]
                        : chosen[groups->of_unit[u] * MO_HRL_DRAWN + i];
}

/* All placements are judged; the best of them is the episode's. */
static mo_status judge(const mo_hrl *h, const mo_hrl_groups *groups,
                       const int *chosen, mo_score *score, int *device,
                       double *scores, mo_drawn *drawn, mo_error *err)
{
    int best = 0;
    mo_status status = MO_OK;

    for (int i = 0; i < MO_HRL_DRAWN && status == MO_OK; i++) {
        mo_scored is;

        place_units(h, groups, chosen, i, device);
        status = mo_score_of(score, device, &is, err);
        if (status != MO_OK)
            break;
        scores[i] = -sqrt(is.score);
        drawn->mean += is.score / MO_HRL_DRAWN;
        if (i == 0 || mo_score_better(&is, &drawn->best)) {
            best = i;
            drawn->best = is;
        }
    }
    scores[MO_HRL_DRAWN] = 0;
    place_units(h, groups, chosen, best, device);
    return status;
}

static mo_status attend(const mo_pupil *pupil, mo_tape *tape, mo_score *score,
                        mo_random *random, bool likeliest, int *choices,
                        int *device, double *scores, mo_drawn *drawn,
                        mo_error *err)
{
    const mo_hrl *h = pupil->context;
    mo_hrl_groups groups = { 0 };
    mo_status status = draw(h, tape, random, likeliest, choices, &groups, err);

    if (status == MO_OK)
        status = judge(h, &groups, choices + h->n, score, device, scores, drawn,
                       err);
    mo_hrl_groups_clear(&groups);
    return status;
}

/* Adds what shall fall of the logarithms of probabilities and of their
 * evenness. */
static mo_var falls(mo_tape *tape, mo_var logs, const int *picks,
                    const double *factors, double entropy)
{
    mo_var chosen =
        mo_tape_total(tape, mo_tape_picked(tape, logs, picks, factors));
    mo_var uneven = mo_draw_unevenness(tape, logs);

    return mo_tape_sum(tape, chosen, mo_tape_scaled(tape, uneven, entropy));
}

/* What a grouping is worth is the mean of what was made of it. */
static mo_status learn_grouping(const mo_hrl *h, mo_tape *tape,
                                const int *choices, const double *advantage,
                                double entropy, mo_error *err)
{
    double *factors = calloc((size_t) h->n + 1, sizeof *factors);
    double mean = 0;

    if (!factors)
        return mo_fail_memory(err);
    for (int i = 0; i < MO_HRL_DRAWN; i++)
        mean += advantage[i] / MO_HRL_DRAWN;
    for (int u = 0; u < h->n; u++)
        factors[u] = h->units->pin[u] == MO_FREE ? -mean : 0;
    mo_tape_wipe(tape);
    mo_tape_back(
        tape, falls(tape, mo_hrl_grouper(h, tape), choices, factors, entropy));
    free(factors);
    return mo_tape_failed(tape) ? mo_fail_memory(err) : MO_OK;
}

/* With all that was chosen known, devices are looked at at once. */
static mo_status learn_devices(const mo_hrl *h, mo_tape *tape,
                               const mo_hrl_groups *groups, const int *chosen,
                               const double *advantage, double entropy,
                               mo_error *err)
{
    int at[MO_HRL_GROUPS * MO_HRL_DRAWN];
    double factors[MO_HRL_GROUPS * MO_HRL_DRAWN];
    mo_var known[MO_HRL_GROUPS], logs;
    mo_hrl_placer placer;

    mo_tape_wipe(tape);
    placer = mo_hrl_placer_begin(h, tape, groups, MO_HRL_DRAWN);
    for (int t = 0; t < groups->n; t++) {
        known[t] = mo_hrl_placer_step(&placer, t, chosen);
        for (int i = 0; i < MO_HRL_DRAWN; i++) {
            at[t * MO_HRL_DRAWN + i] = t;
            factors[t * MO_HRL_DRAWN + i] = -advantage[i] / MO_HRL_DRAWN;
        }
    }
    logs =
        mo_hrl_placer_logs(&placer, mo_tape_below(tape, known, groups->n), at);
    mo_tape_back(tape,
                 falls(tape, logs, chosen, factors, entropy / MO_HRL_DRAWN));
    return mo_tape_failed(tape) ? mo_fail_memory(err) : MO_OK;
}

static mo_status learn(const mo_pupil *pupil, mo_tape *tape, const int *choices,
                       const double *advantage, double entropy, mo_error *err)
{
    const mo_hrl *h = pupil->context;
    mo_hrl_groups groups = { 0 };
    mo_status status = mo_hrl_groups_make(h, choices, &groups, err);

    if (status == MO_OK && groups.n > 0)
        status = learn_grouping(h, tape, choices, advantage, entropy, err);
    if (status == MO_OK && groups.n > 0)
        status = learn_devices(h, tape, &groups, choices + h->n, advantage,
                               entropy, err);
    mo_hrl_groups_clear(&groups);
    return status;
}

mo_pupil mo_hrl_pupil(mo_hrl *hrl)
{
    const spirit *has = hrl->n_groups == hrl->n ? &small_graphs : &others;

    return (mo_pupil){
        .kind = "hrl",
        .weights = &hrl->weights,
        .about = hrl->about,
        .n_about = 1,
        .n_choices = hrl->n + MO_HRL_GROUPS * MO_HRL_DRAWN,
        .begin = hrl->begin,
        .n_parts = MO_HRL_DRAWN,
        .rate = rate,
        .entropy = has->evenness / (hrl->n + 1),
        .tires = has->tires,
        .fades = fades,
        .context = hrl,
        .attend = attend,
        .learn = learn,
    };
}
