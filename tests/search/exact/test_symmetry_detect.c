/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of solvers/search/exact/symmetry_detect.h. */
#include "solvers/search/exact/symmetry_detect.h"

#include "tests/support/problem.h"
#include "tests/support/suite.h"
#include "tests/support/text.h"

static void find_symmetry(const mo_instance *x, mo_exact_symmetry *symmetry)
{
    size_t n = (size_t) x->n;
    unsigned char *reaches = calloc(n * n + 1, 1);

    for (int i = x->n - 1; i >= 0; i--) {
        reaches[(size_t) i * n + (size_t) i] = 1;
        for (int q = x->out_start[i]; q < x->out_start[i + 1]; q++)
            for (size_t j = 0; j < n; j++)
                reaches[(size_t) i * n + j] |=
                    reaches[(size_t) x->flows[q].to * n + j];
    }
    MUST(mo_exact_symmetry_find(x, reaches, symmetry, &err));
    free(reaches);
}

/* Returns "a c|b d; e|f": branches separated by '|', classes by "; ". The
 * caller frees it. */
static char *format_symmetry(const mo_instance *x, const mo_exact_symmetry *t)
{
    mo_out *out = text_new();

    for (int i = 0; i < t->n; i++) {
        if (i > 0)
            mo_out_printf(out, t->class[i] == t->class[i - 1] ? "|" : "; ");
        for (int j = t->start[i]; j < t->start[i + 1]; j++)
            mo_out_printf(out, j > t->start[i] ? " %s" : "%s",
                          x->op_names[t->ops[j]]);
    }
    return text_end(out);
}

#define FORK "* t.A=1 t.B=2; u; v;"

static const struct {
    const char *graph, *symmetry;
} cases[] = {
    { "", "" },
    { "a t.A=1 t.B=1", "" },
    /* a chain is all trunk */
    { FORK "a; u>a bytes=1; a>v bytes=1", "" },
    { FORK "a; b; u>a tensor=y bytes=1; u>b tensor=y bytes=1; a>v bytes=1;"
           "b>v bytes=1",
      "a|b" },
    /* also without a trunk */
    { "* t.A=1 t.B=2; a; b; c t.A=5 t.B=5", "a|b" },
    { "* t.A=1 t.B=2; a; b; c t.A=5 t.B=5; d t.A=5 t.B=5", "a|b; c|d" },
    /* the longest op comes first */
    { FORK "a; b; c t.A=3 t.B=3; d t.A=3 t.B=3; u>a tensor=y bytes=1;"
           "u>b tensor=y bytes=1; a>c bytes=1; b>d bytes=1; c>v bytes=1;"
           "d>v bytes=1",
      "c a|d b" },
    /* another time, pin, size, tensor, group, or flow */
    { FORK "a; b t.B=3; u>a tensor=y bytes=1; u>b tensor=y bytes=1;"
           "a>v bytes=1; b>v bytes=1",
      "" },
    { FORK "a; b pin=A; u>a tensor=y bytes=1; u>b tensor=y bytes=1;"
           "a>v bytes=1; b>v bytes=1",
      "" },
    { FORK "a; b; u>a tensor=y bytes=1; u>b tensor=y bytes=1; a>v bytes=1;"
           "b>v bytes=2000",
      "" },
    { FORK "a; b; u>a tensor=y bytes=1; u>b tensor=z bytes=1; a>v bytes=1;"
           "b>v bytes=1",
      "" },
    { FORK "a colocate=g; b colocate=g; u>a tensor=y bytes=1;"
           "u>b tensor=y bytes=1; a>v bytes=1; b>v bytes=1",
      "" },
    { FORK "a; b; c; d; u>a tensor=y bytes=1; u>b tensor=y bytes=1;"
           "a>c bytes=1; b>d bytes=1; c>v bytes=1; d>v bytes=1;"
           "u>d tensor=y bytes=1",
      "" },
};

START_TEST(interchangeable_branches_are_found)
{
    problem p = { 0 };
    mo_exact_symmetry symmetry = { 0 };
    char *text;

    problem_make(&p, cases[_i].graph, "A; B; A-B gbps=8", NULL);
    find_symmetry(p.x, &symmetry);
    text = format_symmetry(p.x, &symmetry);
    ck_assert_str_eq(text, cases[_i].symmetry);
    free(text);
    mo_exact_symmetry_clear(&symmetry);
    problem_clear(&p);
}
END_TEST

SUITE(symmetry_detect)
{
    EACH(interchangeable_branches_are_found, COUNT(cases));
}
