/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests of the evaluation of solutions against exhaustive search: whatever is
 * edited in a solution, none is valid below the optimum of the rules that are
 * given, nor, with intact identity columns, below that of its own.
 */
#include <config.h>

#include "solvers/answer/evaluation.h"

#include <stdlib.h>
#include <string.h>

#include "base/out.h"
#include "base/random.h"
#include "driver/placement_solution.h"
#include "driver/review.h"
#include "schedule/heuristic/heft.h"
#include "tests/support/exhaustive.h"
#include "tests/support/random_problem.h"
#include "tests/support/suite.h"

enum { SEEDS = 60, EDITS = 40, MOST_LINES = 200, LINE = 160 };

typedef struct lines {
    char text[MOST_LINES][LINE];
    int n;
} lines;

typedef struct world {
    problem p;
    mo_regime regime;
    int64_t optimum_ns;
    lines solution;
} world;

static void split(const char *text, lines *to)
{
    to->n = 0;
    for (; *text; text += *text == '\n') {
        size_t length = strcspn(text, "\n");

        ck_assert(to->n < MOST_LINES && length < LINE);
        memcpy(to->text[to->n], text, length);
        to->text[to->n++][length] = '\0';
        text += length;
    }
}

static char *join(const lines *from)
{
    char *text = malloc((size_t) MOST_LINES * (LINE + 1));
    size_t n = 0;

    ck_assert_ptr_nonnull(text);
    for (int i = 0; i < from->n; i++)
        n += (size_t) sprintf(text + n, "%s\n", from->text[i]);
    text[n] = '\0';
    return text;
}

/* Returns false where the problem has no schedule by list scheduling. */
static bool world_make(world *w, unsigned seed)
{
    mo_schedule *schedule = NULL;
    random_problem r;
    mo_out *out;
    char *text;
    size_t size;
    bool made;

    *w = (world){ .regime = {
                      (mo_congestion) (seed % 4), (mo_tensors) (seed / 4 % 2),
                      seed / 8 % 2 ? MO_MEMORY_NONE : MO_MEMORY_STATIC } };
    random_problem_sized(&r, seed, 3, 5);
    made = problem_try(&w->p, r.graph, r.cluster, NULL) == MO_OK;
    random_problem_clear(&r);
    if (made)
        MUST(mo_heft(w->p.x, &w->regime, NULL, &schedule, &err));
    if (!schedule)
        return false;
    w->optimum_ns = exhaustive_optimum(w->p.x, &w->regime);
    MUST(mo_out_memory(&out, &err));
    MUST(mo_place_solution_write(
        &(mo_place_solution){ .x = w->p.x,
                              .schedule = schedule,
                              .made_of = { .fusion = "none" },
                              .method = "heft" },
        out, &err));
    text = mo_out_take(out, &size);
    split(text, &w->solution);
    free(text);
    MUST(mo_out_commit(out, &err));
    mo_schedule_free(schedule);
    return true;
}

static void set_value(char *line, const char *value)
{
    char *blank = strrchr(line, ' ');

    if (blank && blank - line < LINE - 40)
        snprintf(blank + 1, 32, "%.30s", value);
}

static void replace(char *line, const char *from, const char *to)
{
    char *at = strstr(line, from), rest[LINE];

    if (!at || strlen(line) + strlen(to) >= LINE)
        return;
    snprintf(rest, sizeof rest, "%s", at + strlen(from));
    snprintf(at, (size_t) (line + LINE - at), "%s%s", to, rest);
}

static void edit_options(lines *s, mo_random *random)
{
    static const char *const words[][2] = {
        { ".static.", ".none." },  { ".none.", ".static." },
        { ".port.", ".none." },    { ".channel.", ".none." },
        { ".link.", ".none." },    { ".per_edge.", ".once." },
        { ".once.", ".per_edge." }
    };
    int i = mo_random_below(random, COUNT(words));

    for (int k = 0; k < s->n; k++)
        if (strncmp(s->text[k], "moirai_o_", 9) == 0)
            replace(s->text[k], words[i][0], words[i][1]);
}

static void edit(lines *s, int n_devices, mo_random *random)
{
    static const char *const values[] = { "0",    "1",     "0.5",  "2",
                                          "-1",   "1e-6",  "1e9",  "inf",
                                          "-inf", "1e300", "3.25", "100" };
    int i = mo_random_below(random, s->n), k = mo_random_below(random, s->n);
    char *line = s->text[i], *other = s->text[k], swap[LINE];
    int op, device;

    switch (mo_random_below(random, 8)) {
    case 0:
        set_value(line, values[mo_random_below(random, COUNT(values))]);
        break;
    case 1: /* an op elsewhere */
        while (sscanf(line, "x_%d_%d ", &op, &device) != 2)
            line = s->text[mo_random_below(random, s->n)];
        snprintf(line, LINE, "x_%d_%d 1", op,
                 mo_random_below(random, n_devices));
        break;
    case 2:
        memmove(line, s->text[s->n - 1], LINE);
        s->n -= s->n > 1;
        break;
    case 3:
        if (s->n < MOST_LINES)
            memcpy(s->text[s->n++], line, LINE);
        break;
    case 4: /* two values change places */
        if (strrchr(line, ' ') && strrchr(other, ' ') && i != k) {
            snprintf(swap, sizeof swap, "%s", strrchr(line, ' ') + 1);
            set_value(line, strrchr(other, ' ') + 1);
            set_value(other, swap);
        }
        break;
    case 5: /* a shorter makespan is claimed */
        for (int m = 0; m < s->n; m++)
            if (strncmp(s->text[m], "w ", 2) == 0 || strstr(s->text[m], "Obj"))
                set_value(s->text[m], "1");
        break;
    case 6:
        edit_options(s, random);
        break;
    default:
        if (*line)
            line[mo_random_below(random, (int) strlen(line))] =
                "019.-_ x"[mo_random_below(random, 8)];
    }
}

/* Judges by the rules of the solution, or by those that are given. Returns
 * whether it is valid; then its makespan is checked. */
static bool judge(const world *w, const mo_solution *solution, bool given,
                  unsigned seed, const char *text)
{
    const mo_prepare_options options = {
        .congestion = given ? mo_congestion_names[w->regime.congestion] : NULL,
        .tensors = given ? mo_tensors_names[w->regime.tensors] : NULL,
        .memory = given ? mo_memory_names[w->regime.memory] : NULL
    };
    mo_answer_evaluation j = { 0 };
    mo_provenance origin;
    bool valid = false;

    if (mo_answer_provenance(solution, &origin, NULL) == MO_OK &&
        (given || !mo_review_identity_fault(&options, &origin))) {
        const mo_regime *regime =
            given || !origin.has_options ? &w->regime : &origin.regime;

        MUST(mo_answer_evaluate_solution(solution, &origin, w->p.x, regime,
                                         MO_ANSWER_TOLERANCE, &j, &err));
        MUST(mo_answer_evaluation_bound(w->p.x, &j, &err));
        valid = mo_answer_evaluation_valid(&j);
    }
    if (valid)
        ck_assert_msg(j.schedule->makespan_ns >= w->optimum_ns &&
                          j.lower.bound_ns <= w->optimum_ns,
                      "seed %u: %lld ns, bound %lld ns, optimum %lld ns%s\n%s",
                      seed, (long long) j.schedule->makespan_ns,
                      (long long) j.lower.bound_ns, (long long) w->optimum_ns,
                      given ? ", given" : "", text);
    mo_answer_evaluation_clear(&j);
    return valid;
}

/* Counts the edited solutions that are valid, by either rules. */
static int count_valid(const world *w, unsigned seed)
{
    lines *edited = malloc(sizeof *edited);
    mo_random random = { mo_random_seed(seed, 22) };
    int valid = 0;

    ck_assert_ptr_nonnull(edited);
    for (int round = 0; round < EDITS; round++) {
        mo_solution *solution = NULL;
        char *text;
        bool own = false, given = false;

        *edited = w->solution;
        for (int k = mo_random_below(&random, 4); k >= 0 && round > 0; k--)
            edit(edited, w->p.x->n_devices, &random);
        text = join(edited);
        if (mo_solution_read_memory("edited", text, strlen(text), &solution,
                                    NULL) == MO_OK) {
            own = judge(w, solution, false, seed, text);
            given = judge(w, solution, true, seed, text);
        }
        ck_assert_msg((own && given) || round > 0, "seed %u: unedited", seed);
        valid += own || given;
        mo_solution_free(solution);
        free(text);
    }
    free(edited);
    return valid;
}

START_TEST(no_edit_is_valid_below_the_optimum)
{
    world *w = malloc(sizeof *w);

    ck_assert_ptr_nonnull(w);
    if (world_make(w, (unsigned) _i)) {
        int valid = count_valid(w, (unsigned) _i);

        ck_assert_msg(valid < EDITS, "seed %d: all are valid", _i);
    }
    problem_clear(&w->p);
    free(w);
}
END_TEST

SUITE(answer_edits)
{
    SOME(no_edit_is_valid_below_the_optimum, at_length(20 * SEEDS, SEEDS), 4);
}
