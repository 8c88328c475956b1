/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/models/optimum_oracle.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "models/frame/frame.h"
#include "models/identity.h"
#include "models/write/lp_writer.h"
#include "models/model.h"
#include "models/write/mps_writer.h"
#include "tests/support/exhaustive.h"
#include "tests/support/random_problem.h"
#include "tests/support/suite.h"

enum { LONG_SEEDS = 500, DEFAULT_SEEDS = 60, FEW_SEEDS = 4 };

static unsigned number_from(const char *variable, unsigned otherwise)
{
    const char *text = getenv(variable);

    return text && *text ? (unsigned) strtoul(text, NULL, 10) : otherwise;
}

static unsigned usual_count(void)
{
    if (is_watched())
        return FEW_SEEDS;
    return (unsigned) at_length(LONG_SEEDS, DEFAULT_SEEDS);
}

oracle_seeds oracle_part(int part, int n_parts)
{
    unsigned first = number_from("MOIRAI_ORACLE_FIRST", 0);
    unsigned count = number_from("MOIRAI_ORACLE_SEEDS", usual_count());

    return (oracle_seeds){ .next = first + (unsigned) part,
                           .end = first + count,
                           .step = (unsigned) n_parts };
}

void oracle_make(oracle *o, unsigned seed)
{
    random_problem r;
    size_t size;

    *o = (oracle){ .seed = seed };
    random_problem_make(&r, seed);
    problem_make(&o->p, r.graph, r.cluster, NULL);
    size = strlen(r.graph) + strlen(r.cluster) + 4;
    o->text = malloc(size);
    ck_assert_ptr_nonnull(o->text);
    snprintf(o->text, size, "%s | %s", r.graph, r.cluster);
    random_problem_clear(&r);
}

void oracle_clear(oracle *o)
{
    problem_clear(&o->p);
    free(o->text);
    o->text = NULL;
}

static void write_model(const mo_model *model, const char *path)
{
    bool is_mps = strstr(path, ".mps") != NULL;
    mo_sink *sink;
    mo_out *out;

    MUST(mo_out_open(path, &out, &err));
    if (is_mps)
        MUST(mo_mps_writer_new(out, NULL, &sink, &err));
    else
        MUST(mo_lp_writer_new(out, NULL, &sink, &err));
    MUST(mo_model_write(model, sink, &err));
    mo_sink_free(sink);
    MUST(mo_out_commit(out, &err));
}

static mo_frame *make_frame(const oracle *o, const mo_regime *regime)
{
    mo_frame *frame = NULL;

    if (o->proven)
        MUST(mo_frame_make_with_bounds(o->p.x, regime, 0, o->proven, NULL,
                                       &frame, &err));
    else
        MUST(mo_frame_make(o->p.x, regime, o->closure, &frame, &err));
    return frame;
}

int64_t oracle_write(const oracle *o, const mo_formulation *formulation,
                     const mo_regime *regime, const char *path)
{
    mo_identity_options options = { .formulation = formulation->name,
                                    .regime = *regime,
                                    .fusion = "none",
                                    .graph_digest = o->p.x->graph_digest };
    mo_identity identity;
    mo_frame *frame = make_frame(o, regime);
    mo_model model;
    int64_t unit_ns;

    frame->in_flight = o->in_flight;
    mo_identity_make(o->p.x, &options, &identity);
    MUST(mo_model_make(formulation, frame, &identity, &model, &err));
    write_model(&model, path);
    unit_ns = model.frame->unit_ns;
    mo_model_clear(&model);
    mo_frame_free(frame);
    return unit_ns;
}

void oracle_complain(oracle *o, const mo_formulation *formulation,
                     const mo_regime *regime, const char *format, ...)
{
    va_list rest;

    o->n_wrong++;
    fprintf(stderr,
            "seed %u, %s, congestion %s, tensors %s, memory %s: ", o->seed,
            formulation->name, mo_congestion_names[regime->congestion],
            mo_tensors_names[regime->tensors], mo_memory_names[regime->memory]);
    va_start(rest, format);
    vfprintf(stderr, format, rest);
    va_end(rest);
    fprintf(stderr, "\n    %s\n", o->text);
}

/* One part in a million, the relative tolerance of solvers. */
static bool is_close(double ns, int64_t wanted_ns, int64_t unit_ns)
{
    double scale = (double) (wanted_ns > unit_ns ? wanted_ns : unit_ns);

    return fabs(ns - (double) wanted_ns) <= 1e-6 * scale;
}

static void check_file(oracle *o, const mo_formulation *formulation,
                       const mo_regime *regime, const char *path,
                       int64_t wanted_ns)
{
    int64_t unit_ns = oracle_write(o, formulation, regime, path);
    solved result;
    double ns;

    solve_file(path, &result);
    ns = result.objective * (double) unit_ns;
    if (result.status == SOLVE_OTHER)
        oracle_complain(o, formulation, regime, "%s: HiGHS ended with %d", path,
                        result.highs_status);
    else if (result.status == SOLVE_INFEASIBLE && wanted_ns >= 0)
        oracle_complain(o, formulation, regime, "%s: infeasible, not %lld ns",
                        path, (long long) wanted_ns);
    else if (result.status == SOLVE_OPTIMAL && wanted_ns < 0)
        oracle_complain(o, formulation, regime, "%s: %.3f ns, not infeasible",
                        path, ns);
    else if (result.status == SOLVE_OPTIMAL &&
             !is_close(ns, wanted_ns, unit_ns))
        oracle_complain(o, formulation, regime, "%s: %.6f ns, not %lld", path,
                        ns, (long long) wanted_ns);
    solved_clear(&result);
}

void oracle_check(oracle *o, const mo_formulation *formulation,
                  const mo_regime *regime)
{
    int64_t wanted_ns = exhaustive_optimum(o->p.x, regime);

    check_file(o, formulation, regime, "model.lp", wanted_ns);
    check_file(o, formulation, regime, "model.mps", wanted_ns);
}
