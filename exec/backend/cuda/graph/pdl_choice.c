/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "exec/backend/cuda/graph/pdl_choice.h"

#include <stdlib.h>
#include <string.h>

#include "base/digest.h"
#include "base/minmax.h"
#include "exec/backend/cuda/algo/autotune.h"
#include "exec/backend/cuda/graph/capture.h"
#include "exec/backend/cuda/kernels/kernel_class.h"

/* Replays of either variant: all that are timed, and enough for a choice where
 * warm-ups end before. */
enum { REPLAYS = 15, FEWEST = 3 };

enum { WITH_PDL, WITHOUT_PDL, VARIANTS };

static const char *const names[VARIANTS] = { "pdl", "no pdl" };

struct mo_cuda_pdl_trial {
    CUgraphExec other; /* the variant that is not replayed next */
    int next;          /* the one that is */
    int64_t ns[VARIANTS][REPLAYS];
    int n[VARIANTS];
};

uint64_t mo_cuda_pdl_choice_key(const mo_backend_unit *unit,
                                const mo_backend_program_call *calls, int n)
{
    mo_digest *digest;
    uint64_t key;

    if (!unit->options.autotune || !unit->has_pdl || n < 2 ||
        mo_cuda_unit_slots(unit) > 1)
        return 0;
    for (int i = 0; i < n; i++)
        if (!calls[i].kernel || (calls[i].unit && calls[i].unit != unit))
            return 0;
    digest = mo_digest_new();
    if (!digest)
        return 0;
    mo_digest_text(digest, "program");
    mo_digest_int(digest, unit->options.precision);
    for (int i = 0; i < n; i++) {
        mo_digest_int(digest, (int64_t) calls[i].kernel->digest);
        mo_digest_int(digest, calls[i].stream);
        mo_digest_int(digest, calls[i].n_deps);
        for (int d = 0; d < calls[i].n_deps; d++)
            mo_digest_int(digest, calls[i].deps[d]);
    }
    key = mo_digest_value(digest);
    mo_digest_free(digest);
    return key;
}

bool mo_cuda_pdl_choice_read(mo_backend_unit *unit, uint64_t key)
{
    const char *name = mo_cuda_tuning_cache_best_name(unit->tuning_cache, key);

    if (!name)
        return false;
    unit->has_pdl = strcmp(name, names[WITHOUT_PDL]) != 0;
    return true;
}

/* Returns NULL where the program cannot be recorded again, for want of memory,
 * say: it stays as it is. */
static mo_cuda_pdl_trial *
begin_trial(mo_backend_unit *unit, const mo_backend_program_call *calls, int n)
{
    mo_cuda_pdl_trial *made = calloc(1, sizeof *made);
    mo_status status;

    if (!made)
        return NULL;
    unit->has_pdl = false;
    status = mo_cuda_graph_capture_once(unit, calls, n, &made->other, NULL);
    unit->has_pdl = true;
    if (status == MO_OK)
        return made;
    mo_cuda_pdl_trial_free(unit, made);
    return NULL;
}

static void replay_next(mo_backend_program *program, int variant)
{
    mo_cuda_pdl_trial *t = program->trial;
    CUgraphExec other = t->other;

    if (t->next == variant)
        return;
    t->other = program->exec;
    program->exec = other;
    t->next = variant;
}

static int64_t median_of(mo_cuda_pdl_trial *t, int variant)
{
    int n = t->n[variant];

    qsort(t->ns[variant], (size_t) n, sizeof t->ns[variant][0], mo_compare_i64);
    return t->ns[variant][(n - 1) / 2];
}

void mo_cuda_pdl_tune(mo_backend_unit *unit, mo_backend_program *program,
                      const mo_backend_program_call *calls, int n, int64_t ns)
{
    mo_cuda_pdl_trial *t = program->trial;

    if (program->choice_key == 0 || (!t && ns < 0))
        return;
    if (!t) {
        t = program->trial = begin_trial(unit, calls, n);
        if (!t) {
            program->choice_key = 0;
            return;
        }
    }
    if (ns >= 0) {
        t->ns[t->next][t->n[t->next]++] = ns;
        replay_next(program, t->next == WITH_PDL ? WITHOUT_PDL : WITH_PDL);
    }
    if (ns < 0 || t->n[WITHOUT_PDL] == REPLAYS) {
        int best = WITH_PDL;

        /* After too few replays the program stays as it was recorded, and the
         * next start tries again. */
        if (t->n[WITHOUT_PDL] >= FEWEST) {
            int64_t median_ns[VARIANTS] = { median_of(t, WITH_PDL),
                                            median_of(t, WITHOUT_PDL) };

            best = median_ns[WITHOUT_PDL] < median_ns[WITH_PDL] ? WITHOUT_PDL
                                                                : WITH_PDL;
            mo_cuda_tuning_cache_add(unit->tuning_cache, program->choice_key,
                                     names[best], median_ns[best]);
        }
        replay_next(program, best);
        unit->has_pdl = best == WITH_PDL;
        mo_cuda_pdl_trial_free(unit, t);
        program->trial = NULL;
        program->choice_key = 0;
    }
}

void mo_cuda_pdl_trial_free(mo_backend_unit *unit, mo_cuda_pdl_trial *trial)
{
    if (!trial)
        return;
    if (trial->other)
        unit->api->cuGraphExecDestroy(trial->other);
    free(trial);
}
