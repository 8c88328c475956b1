/* SPDX-License-Identifier: Apache-2.0 */
/*
 * validate_case.h - test fixture: schedules of a placement, corrupted by hand,
 * and the expected verdicts.
 */
#ifndef MO_TESTS_SCHEDULE_VALIDATE_CASE_H
#define MO_TESTS_SCHEDULE_VALIDATE_CASE_H

#include "schedule/validate/validate.h"

#include "tests/support/problem.h"

enum { MAX_LISTED = 64 }; /* violations in a verdict */

extern const mo_regime edges_by_port;
extern const mo_regime once_by_port;

/* a is read by three others; a kB takes 1 us. */
extern const char fork_of_three[];
extern const char three[];

/* The schedule of a placement, as early as possible. */
mo_schedule *schedule_made(const problem *p, const mo_regime *regime,
                           const int *device);

/* A problem, and the schedule of a placement; both to be cleared. */
mo_schedule *scheduled(problem *p, const char *graph, const char *cluster,
                       const mo_regime *regime, const int *device);

void clear_scheduled(problem *p, mo_schedule *s);

mo_verdict *verdict_on(const problem *p, const mo_schedule *s);

/* On stderr. */
void print_all(const mo_verdict *v);

/* There is one violation, and it is this. */
void check_only(const problem *p, const mo_schedule *s, mo_violation_kind rule,
                int64_t amount, const char *text);

/* One of the violations is this. */
void check_among(const problem *p, const mo_schedule *s, mo_violation_kind rule,
                 int64_t amount, const char *text);

/* Removes that transfer, or duplicates it. */
void drop_transfer(mo_schedule *s, int at);
void double_transfer(mo_schedule *s, int at);

#endif
