/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests of driver/certificate.h and schedule/proof: what the search certifies
 * is verified to the same bound, and no certificate, whatever it claims, proves
 * more than the optimum.
 */
#include "solvers/search/driver/certificate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "schedule/period/loads.h"
#include "schedule/period/modulo_schedule.h"
#include "solvers/search/method.h"
#include "tests/support/exhaustive.h"
#include "tests/support/exhaustive_live.h"
#include "tests/support/exhaustive_period.h"
#include "tests/support/layered_problem.h"
#include "tests/support/problem.h"
#include "tests/support/random_problem.h"
#include "tests/support/reference_validate.h"
#include "tests/support/suite.h"

enum { WORK = 20000000 };

/* Of verifying what was certified, and of a mutant. */
#define VERIFY_WORK INT64_C(10000000000)
#define MUTANT_WORK INT64_C(20000000)

/* A certificate as text, and a time that no bound exceeds. */
typedef struct certified {
    mo_regime regime;
    mo_objective objective;
    int in_flight;
    char *text; /* NULL: none */
    size_t size;
    int64_t bound_ns, makespan_ns;
} certified;

static char *text_of(const mo_proof *proof, size_t *size)
{
    mo_out *out = NULL;
    char *text;

    MUST(mo_out_memory(&out, &err));
    mo_proof_write(proof, '#', out);
    text = mo_out_take(out, size);
    mo_out_abandon(out);
    ck_assert_ptr_nonnull(text);
    return text;
}

static certified certify_for(const mo_instance *x, const mo_regime *regime,
                             mo_objective objective, int in_flight)
{
    const mo_method_task task = { .x = x,
                                  .regime = *regime,
                                  .objective = objective,
                                  .in_flight = in_flight,
                                  .rounds =
                                      objective == MO_OBJECTIVE_PERIOD ? 2 : 0,
                                  .seed = 1,
                                  .threads = 1,
                                  .max_work = WORK,
                                  .certify = true };
    mo_method_result placed = { 0 };
    certified c = { .regime = *regime,
                    .objective = objective,
                    .in_flight = in_flight,
                    .makespan_ns = INT64_MAX };

    MUST(mo_method_moirai.place(&task, &placed, &err));
    if (placed.fits)
        MUST(mo_period_objective(x, objective, in_flight, placed.schedule,
                                 &c.makespan_ns, &err));
    if (placed.proof) {
        c.bound_ns = placed.proof->bound_ns;
        c.text = text_of(placed.proof, &c.size);
        ck_assert_int_le(c.bound_ns, placed.lower_ns);
    }
    mo_method_result_clear(&placed);
    return c;
}

static certified certify(const mo_instance *x, const mo_regime *regime)
{
    return certify_for(x, regime, MO_OBJECTIVE_LATENCY, 0);
}

static mo_proof_result verify(const mo_instance *x, const certified *c,
                              const mo_proof *proof, int64_t max_work)
{
    _Atomic int64_t work = 0;
    const mo_stop stop = { .deadline_ns = INT64_MAX,
                           .work = &work,
                           .max_work = max_work };
    const mo_proof_scope scope = { x, c->regime, c->objective, c->in_flight };
    mo_proof_result result;

    MUST(mo_proof_verify(&scope, proof, &mo_search_proof_rules, &stop, NULL,
                         &result, &err));
    return result;
}

/* It is verified to the bound that its author has, from the text alone. */
static void check_round_trip(const mo_instance *x, const certified *c)
{
    mo_proof *proof = NULL;
    mo_proof_result result;
    size_t size;
    char *again;

    MUST(mo_proof_read("proof", c->text, c->size, &proof, &err));
    ck_assert_ptr_nonnull(proof);
    again = text_of(proof, &size);
    ck_assert_str_eq(again, c->text);
    free(again);
    result = verify(x, c, proof, VERIFY_WORK);
    ck_assert_str_eq(result.why, "");
    ck_assert_int_eq(result.bound_ns, c->bound_ns);
    ck_assert_int_eq(proof->bound_ns, c->bound_ns);
    mo_proof_free(proof);
}

/* With live memory only small problems can be enumerated; the schedule that was
 * found takes the place of the optimum of others. */
static int64_t optimum_of(const mo_instance *x, const certified *c)
{
    bool live = c->regime.memory == MO_MEMORY_LIVE;
    int64_t optimum;

    if (live && (x->n > 5 || x->n_flows > 4))
        return c->makespan_ns;
    optimum = live ? exhaustive_live_optimum(x, &c->regime)
                   : exhaustive_optimum(x, &c->regime);
    return optimum == EXHAUSTIVE_NONE ? INT64_MAX : optimum;
}

/* Without a limit in flight that of the loads; with one, no period is shorter
 * than what is enumerated. */
static int64_t least_period_of(const mo_instance *x, const certified *c)
{
    int64_t ns = exhaustive_limited_period(x, &c->regime, c->in_flight);

    return ns == EXHAUSTIVE_PERIOD_NONE ? INT64_MAX : ns;
}

/* A quarter of the regimes each time, for one seed after the other. */
static bool is_turn(int number, unsigned seed)
{
    return number % 4 == (int) (seed / 2 % 4);
}

static void check_certificate(const problem *p, int number, unsigned seed)
{
    const mo_regime regime = regime_of(number);
    certified c;

    if (!is_turn(number, seed))
        return;
    c = certify(p->x, &regime);
    if (c.text) {
        ck_assert_msg(c.bound_ns <= optimum_of(p->x, &c), "seed %u, regime %d",
                      seed, number);
        check_round_trip(p->x, &c);
    }
    free(c.text);
}

START_TEST(a_certificate_is_verified_and_below_the_optimum)
{
    random_problem_check((unsigned) _i, check_certificate);
}
END_TEST

START_TEST(layers_are_certified)
{
    problem p = { 0 };
    const mo_regime regime = regime_of(_i % 24);
    certified c;

    stack_make(&p, (unsigned) _i);
    c = certify(p.x, &regime);
    if (c.text) {
        ck_assert_int_le(c.bound_ns, c.makespan_ns);
        check_round_trip(p.x, &c);
    }
    free(c.text);
    problem_clear(&p);
}
END_TEST

/* Replaces the word at from by a number near to it, or by any. */
static void change_number(mo_random *r, char *line, size_t room)
{
    char copy[512], *words[32], *end = NULL;
    int n = 0, at;
    long long value;
    size_t used = 0;

    snprintf(copy, sizeof copy, "%s", line);
    for (char *w = strtok(copy, " "); w && n < 32; w = strtok(NULL, " "))
        words[n++] = w;
    if (n < 4)
        return;
    at = 3 + mo_random_below(r, n - 3);
    value = strtoll(words[at], &end, 10);
    switch (mo_random_below(r, 6)) {
    case 0:
        value += 1 + mo_random_below(r, 3);
        break;
    case 1:
        value -= 1;
        break;
    case 2:
        value = value * 2 + 1;
        break;
    case 3:
        value = mo_random_below(r, 8);
        break;
    case 4:
        value = (long long) MO_PROOF_NEVER_NS;
        break;
    default:
        value += value / 50 + 1;
    }
    for (int i = 0; i < n && used < room; i++)
        used += (size_t) (i == at ? snprintf(line + used, room - used, "%s%lld",
                                             i > 0 ? " " : "", value)
                                  : snprintf(line + used, room - used, "%s%s",
                                             i > 0 ? " " : "", words[i]));
}

static void change_kind(mo_random *r, char *line, size_t room)
{
    char copy[512], *rest;
    int kind = mo_random_below(r, MO_PROOF_N_KINDS);

    snprintf(copy, sizeof copy, "%s", line);
    rest = strchr(copy + strlen("# proof "), ' ');
    snprintf(line, room, "# proof %s%s", mo_proof_kind_names[kind],
             rest ? rest : "");
}

enum { MAX_LINES = 256, LINE = 512 };

/* Edits of lines: another number or kind, a line twice, without, or swapped.
 * The count at the end is kept right in most cases. */
static size_t mutate(mo_random *r, const char *text, char *to, size_t room)
{
    static char lines[MAX_LINES][LINE];
    int n = 0, edits = 1 + mo_random_below(r, 3), entries = 0;
    size_t used = 0;

    for (const char *at = text; *at && n < MAX_LINES - 4;) {
        size_t length = strcspn(at, "\n");

        snprintf(lines[n++], LINE, "%.*s",
                 (int) (length < LINE ? length : LINE - 1), at);
        at += length + (at[length] == '\n');
    }
    for (; edits > 0 && n > 2; edits--) {
        int at = 1 + mo_random_below(r, n - 2);

        switch (mo_random_below(r, 8)) {
        case 0:
            change_kind(r, lines[at], LINE);
            break;
        case 1:
            memmove(lines[at + 1], lines[at], (size_t) (n - at) * LINE);
            n++;
            break;
        case 2:
            memmove(lines[at], lines[at + 1], (size_t) (n - at - 1) * LINE);
            n--;
            break;
        case 3:
            at = 0;
            /* fall through */
        default:
            change_number(r, lines[at], LINE);
        }
    }
    for (int i = 0; i < n; i++)
        entries +=
            i > 0 && !strstr(lines[i], " chain") && !strstr(lines[i], " end");
    if (mo_random_below(r, 16) > 0)
        snprintf(lines[n - 1], LINE, "# proof end %d", entries);
    for (int i = 0; i < n && used < room; i++)
        used += (size_t) snprintf(to + used, room - used, "%s\n", lines[i]);
    return used < room ? used : room - 1;
}

static void check_mutants(const mo_instance *x, const certified *c,
                          int64_t most_ns, mo_random *r, int n)
{
    static char text[MAX_LINES * LINE];

    for (int i = 0; i < n; i++) {
        size_t size = mutate(r, c->text, text, sizeof text);
        mo_proof *proof = NULL;
        mo_proof_result result;
        mo_error why = { 0 };

        if (mo_proof_read("proof", text, size, &proof, &why) != MO_OK) {
            ck_assert(!proof && why.text[0] && why.line > 0);
            continue;
        }
        result = verify(x, c, proof, MUTANT_WORK);
        ck_assert_msg(result.bound_ns <= most_ns,
                      "%lld ns proven, %lld ns possible:\n%s",
                      (long long) result.bound_ns, (long long) most_ns, text);
        ck_assert(result.bound_ns >= proof->bound_ns || result.why[0]);
        mo_proof_free(proof);
    }
}

enum { MUTANTS = 70 }; /* of one certificate */

static void check_mutants_of(const problem *p, int number, unsigned seed)
{
    const mo_regime regime = regime_of(number);
    mo_random random = { mo_random_seed(seed, (uint64_t) number) };
    certified c;

    if (number % 8 != (int) (seed % 8))
        return;
    c = certify(p->x, &regime);
    if (c.text)
        check_mutants(p->x, &c, optimum_of(p->x, &c), &random, MUTANTS);
    free(c.text);
}

START_TEST(no_mutant_proves_more_than_the_optimum)
{
    random_problem_check((unsigned) _i, check_mutants_of);
}
END_TEST

/* Here the best schedule that is known takes the place of the optimum. */
START_TEST(no_mutant_refutes_a_schedule)
{
    problem p = { 0 };
    const mo_regime regime = regime_of(_i % 24);
    mo_random random = { (uint64_t) _i };
    certified c;

    stack_make(&p, (unsigned) _i);
    c = certify(p.x, &regime);
    if (c.text)
        check_mutants(p.x, &c, c.makespan_ns, &random, MUTANTS);
    free(c.text);
    problem_clear(&p);
}
END_TEST

static void check_certificate_of_period(const problem *p, int number,
                                        unsigned seed)
{
    const mo_regime regime = regime_of(number);
    mo_random random = { mo_random_seed(seed, (uint64_t) number) };
    certified c;
    int64_t least_ns;

    if (!is_turn(number, seed))
        return;
    c = certify_for(p->x, &regime, MO_OBJECTIVE_PERIOD, (int) (seed % 3));
    least_ns = least_period_of(p->x, &c);
    if (c.text) {
        ck_assert_msg(c.bound_ns <= least_ns, "seed %u, regime %d", seed,
                      number);
        check_round_trip(p->x, &c);
        check_mutants(p->x, &c, least_ns, &random, MUTANTS / 10);
    }
    free(c.text);
}

START_TEST(a_certificate_of_the_period_is_below_the_least)
{
    random_problem_check((unsigned) _i, check_certificate_of_period);
}
END_TEST

/* Too many placements to enumerate. */
START_TEST(periods_of_layers_are_certified)
{
    problem p = { 0 };
    const mo_regime regime = regime_of(_i % 24);
    mo_random random = { (uint64_t) _i };
    certified c;

    stack_make(&p, (unsigned) _i);
    c = certify_for(p.x, &regime, MO_OBJECTIVE_PERIOD, 0);
    if (c.text) {
        ck_assert_int_le(c.bound_ns, c.makespan_ns);
        check_round_trip(p.x, &c);
        check_mutants(p.x, &c, c.makespan_ns, &random, MUTANTS / 10);
    }
    free(c.text);
    problem_clear(&p);
}
END_TEST

/* Returns a claim that is near to the least period, or anything. */
static int64_t draw_claim(mo_random *r, int64_t least_ns)
{
    int64_t near_ns = least_ns == INT64_MAX ? 1000 : least_ns;

    switch (mo_random_below(r, 4)) {
    case 0:
        return near_ns + mo_random_below(r, 3);
    case 1:
        return near_ns + near_ns / (1 + mo_random_below(r, 20));
    case 2:
        return (int64_t) MO_PROOF_NEVER_NS;
    default:
        return 2 * near_ns + mo_random_below(r, 1000);
    }
}

/* An entry of any kind of the period with prices drawn at random. */
static void add_drawn_entry(mo_random *r, const mo_instance *x,
                            const certified *c, int64_t least_ns,
                            mo_proof *proof)
{
    mo_proof_entry e = {
        .kind = (mo_proof_kind) (MO_PROOF_LAGRANGIAN +
                                 mo_random_below(r, MO_PROOF_N_KINDS -
                                                        MO_PROOF_LAGRANGIAN)),
        .value_ns = draw_claim(r, least_ns)
    };
    int64_t params[LINE];
    int n = 0, room = mo_period_resource_count(x, c->regime.congestion) +
                      mo_random_below(r, x->n_devices + 1);

    if (e.kind == MO_PROOF_LAGRANGIAN || e.kind == MO_PROOF_BRANCH)
        params[n++] = 1 + mo_random_below(r, 100000);
    if (e.kind == MO_PROOF_BRANCH || e.kind == MO_PROOF_SETS)
        params[n++] = 1000000;
    if (e.kind == MO_PROOF_ENUMERATE)
        params[n++] = mo_random_below(r, 4);
    while (n > 0 && params[0] != 1000000 && e.kind != MO_PROOF_ENUMERATE &&
           room-- > 0 && n < LINE)
        params[n++] = (int64_t) (mo_random_below(r, 1 << 20)) << 32;
    MUST(mo_proof_add(proof, e, params, (size_t) n, &err));
}

static void check_drawn_entries(const problem *p, int number, unsigned seed)
{
    const mo_regime regime = regime_of(number);
    const certified c = { .regime = regime,
                          .objective = MO_OBJECTIVE_PERIOD,
                          .in_flight = (int) (seed % 3) };
    int64_t least_ns = least_period_of(p->x, &c);
    mo_random random = { mo_random_seed(seed, (uint64_t) number) };

    for (int i = 0; i < MUTANTS / 5; i++) {
        mo_proof *proof = NULL;

        MUST(mo_proof_new(&proof, &err));
        proof->digest = mo_proof_digest(
            &(mo_proof_scope){ p->x, regime, MO_OBJECTIVE_PERIOD, 0 });
        add_drawn_entry(&random, p->x, &c, least_ns, proof);
        ck_assert_msg(verify(p->x, &c, proof, MUTANT_WORK).bound_ns <= least_ns,
                      "seed %u, regime %d, kind %s, least %lld", seed, number,
                      mo_proof_kind_names[proof->entries[0].kind],
                      (long long) least_ns);
        mo_proof_free(proof);
    }
}

START_TEST(no_entry_proves_more_than_the_least_period)
{
    random_problem_check((unsigned) _i, check_drawn_entries);
}
END_TEST

START_TEST(another_instance_is_rejected)
{
    problem p = { 0 }, q = { 0 };
    const mo_regime regime = regime_of(0), other = regime_of(1);
    certified c, in_other;
    mo_proof *proof = NULL;

    problem_make(&p, "a t.A=2 t.B=3; b t.A=2 t.B=1; a>b c.A.B=1 c.B.A=1",
                 "A; B", NULL);
    problem_make(&q, "a t.A=2 t.B=3; b t.A=2 t.B=2; a>b c.A.B=1 c.B.A=1",
                 "A; B", NULL);
    c = certify(p.x, &regime);
    ck_assert_int_eq(c.bound_ns, c.makespan_ns);
    MUST(mo_proof_read("proof", c.text, c.size, &proof, &err));
    ck_assert_int_eq(verify(q.x, &c, proof, VERIFY_WORK).bound_ns, 0);
    in_other = c;
    in_other.regime = other;
    ck_assert_int_eq(verify(p.x, &in_other, proof, VERIFY_WORK).bound_ns, 0);
    ck_assert_str_eq(verify(q.x, &c, proof, VERIFY_WORK).why,
                     "the certificate is of another instance");
    mo_proof_free(proof);
    free(c.text);
    problem_clear(&p);
    problem_clear(&q);
}
END_TEST

/* Ops of the chain that are placed together, as the weights of a workload. */
START_TEST(ends_in_one_group_are_on_one_device)
{
    problem p = { 0 };
    const mo_regime regime = regime_of(0);
    certified c;

    problem_make(&p,
                 "a t.A=1 t.B=10 colocate=g; b t.A=10 t.B=1 colocate=g; "
                 "c t.A=1 t.B=9 colocate=h; d t.A=8 t.B=1 colocate=h; "
                 "a>b c.A.B=1 c.B.A=1; b>c c.A.B=1 c.B.A=1; "
                 "c>d c.A.B=1 c.B.A=1",
                 "A; B", NULL);
    c = certify(p.x, &regime);
    ck_assert_int_eq(c.makespan_ns, optimum_of(p.x, &c));
    ck_assert_int_eq(c.bound_ns, c.makespan_ns);
    check_round_trip(p.x, &c);
    free(c.text);
    problem_clear(&p);
}
END_TEST

static const struct {
    const char *text;
    int line;
    const char *why;
} damaged[] = {
    { "# proof test 0 0 0 5 9\n", 1, "not 'begin'" },
    { "w 3\n# proof begin 1 00 limited 4\n", 2, "16 hexadecimal" },
    { "# proof begin 2 0123456789abcdef limited 4\n", 1, "version 2" },
    { "# proof begin 1 0123456789abcdef limitless 4\n", 1, "'unlimited'" },
    { "# proof begin 1 0123456789abcdef limited 4\n", 1, "before 'end'" },
    { "# proof begin 1 0123456789abcdef limited 4\n# proof chain 4 2\n", 2,
      "ascending" },
    { "# proof begin 1 0123456789abcdef limited 4\n# proof magic 1 2\n", 2,
      "does not know" },
    { "# proof begin 1 0123456789abcdef limited 4\n# proof load 1 0 0 -1\n", 2,
      "without a value" },
    { "# proof begin 1 0123456789abcdef limited 4\n# proof colgen 1 0 0 1 2\n",
      2, "wrong number of parameters" },
    { "# proof begin 1 0123456789abcdef limited 4\n# proof end 1\n", 2,
      "number of entries" },
    { "# proof begin 1 0123456789abcdef limited 4\n# proof end 0\n# proof x\n",
      3, "behind 'end'" },
};

START_TEST(damage_is_named_by_line)
{
    mo_proof *proof = NULL;
    mo_error err = { 0 };

    ck_assert_int_ne(mo_proof_read("x.sol", damaged[_i].text,
                                   strlen(damaged[_i].text), &proof, &err),
                     MO_OK);
    ck_assert_ptr_null(proof);
    ck_assert_int_eq(err.line, damaged[_i].line);
    ck_assert_ptr_nonnull(strstr(err.text, damaged[_i].why));
}
END_TEST

START_TEST(text_without_a_certificate_has_none)
{
    mo_proof *proof = NULL;

    MUST(mo_proof_read("x.sol", "# Solution\nw 3\n", 15, &proof, &err));
    ck_assert_ptr_null(proof);
}
END_TEST

SUITE(certificate)
{
    SOME(a_certificate_is_verified_and_below_the_optimum, at_length(2000, 16),
         4);
    SOME(layers_are_certified, at_length(1000, 16), 4);
    SOME(no_mutant_proves_more_than_the_optimum, at_length(5000, 80), 4);
    SOME(no_mutant_refutes_a_schedule, at_length(5000, 40), 4);
    SOME(a_certificate_of_the_period_is_below_the_least, at_length(2000, 16),
         4);
    SOME(periods_of_layers_are_certified, at_length(1000, 16), 4);
    SOME(no_entry_proves_more_than_the_least_period, at_length(5000, 16), 4);
    TEST(another_instance_is_rejected);
    TEST(ends_in_one_group_are_on_one_device);
    EACH(damage_is_named_by_line, COUNT(damaged));
    TEST(text_without_a_certificate_has_none);
}
