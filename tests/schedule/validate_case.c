/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/schedule/validate_case.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/suite.h"

const mo_regime edges_by_port = { MO_CONGESTION_PORT, MO_TENSORS_PER_EDGE,
                                  MO_MEMORY_STATIC };
const mo_regime once_by_port = { MO_CONGESTION_PORT, MO_TENSORS_ONCE,
                                 MO_MEMORY_STATIC };

const char fork_of_three[] =
    "* t.A=2 t.B=2 t.C=2; * memory_bytes=10; a; b; c; d;"
    "a>b bytes=1000; a>c bytes=2000; a>d bytes=3000";
const char three[] =
    "A memory_bytes=100; B memory_bytes=100; C memory_bytes=100;"
    "A-B gbps=8; A-C gbps=8; B-C gbps=8";

mo_schedule *schedule_made(const problem *p, const mo_regime *regime,
                           const int *device)
{
    mo_schedule *s = NULL;

    MUST(mo_schedule_new(p->x, regime, device, &s, &err));
    MUST(mo_schedule_left_shift(p->x, s, &err));
    return s;
}

mo_schedule *scheduled(problem *p, const char *graph, const char *cluster,
                       const mo_regime *regime, const int *device)
{
    problem_make(p, graph, cluster, NULL);
    return schedule_made(p, regime, device);
}

void clear_scheduled(problem *p, mo_schedule *s)
{
    mo_schedule_free(s);
    problem_clear(p);
}

mo_verdict *verdict_on(const problem *p, const mo_schedule *s)
{
    mo_verdict *v = NULL;

    MUST(mo_validate(p->x, s, MAX_LISTED, &v, &err));
    return v;
}

void print_all(const mo_verdict *v)
{
    for (int i = 0; i < v->n; i++)
        fprintf(stderr, "%s\n", v->violations[i].text);
}

void check_only(const problem *p, const mo_schedule *s, mo_violation_kind rule,
                int64_t amount, const char *text)
{
    mo_verdict *v = verdict_on(p, s);

    if (v->n != 1)
        print_all(v);
    ck_assert_int_eq(v->n, 1);
    ck_assert_str_eq(v->violations[0].text, text);
    ck_assert_int_eq(v->violations[0].rule, rule);
    ck_assert_int_eq(v->violations[0].amount, amount);
    ck_assert(!v->more);
    mo_verdict_free(v);
}

void check_among(const problem *p, const mo_schedule *s, mo_violation_kind rule,
                 int64_t amount, const char *text)
{
    mo_verdict *v = verdict_on(p, s);
    bool found = false;

    for (int i = 0; i < v->n; i++)
        found = found || (v->violations[i].rule == rule &&
                          v->violations[i].amount == amount &&
                          strcmp(v->violations[i].text, text) == 0);
    if (!found)
        print_all(v);
    ck_assert_msg(found, "nobody says: %s", text);
    mo_verdict_free(v);
}

void drop_transfer(mo_schedule *s, int at)
{
    s->n_transfers--;
    memmove(s->transfers + at, s->transfers + at + 1,
            (size_t) (s->n_transfers - at) * sizeof *s->transfers);
}

void double_transfer(mo_schedule *s, int at)
{
    size_t n = (size_t) s->n_transfers + 1;

    s->transfers = realloc(s->transfers, n * sizeof *s->transfers);
    ck_assert_ptr_nonnull(s->transfers);
    memmove(s->transfers + at + 1, s->transfers + at,
            (size_t) (s->n_transfers - at) * sizeof *s->transfers);
    s->n_transfers++;
}
