/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of driver/priced_start.h. */
#include "solvers/search/driver/priced_start.h"

#include <stdlib.h>

#include "schedule/heuristic/heft.h"
#include "tests/support/problem.h"
#include "tests/support/suite.h"

static const mo_regime by_port = { MO_CONGESTION_PORT, MO_TENSORS_ONCE,
                                   MO_MEMORY_STATIC };

/* A fork between two cuts; B is as fast as A, C is slower. */
#define FORK                                                                   \
    "* t.A=4; * t.B=4; * t.C=6; * weight_bytes=10; *>* bytes=1000;"            \
    "u; x; y; v; u>x; u>y; x>v; y>v"
#define CLUSTER "A; B; C; A-B gbps=8; B-C gbps=8; A-C gbps=8"

enum { A, B, C, N_DEVICES };

typedef struct fork_classes {
    problem problem;
    mo_decomp_segments *segments;
    mo_decomp_classes *classes;
    mo_decomp_class *fork;
} fork_classes;

static void open_classes(fork_classes *f)
{
    static int device[] = { A, B, C }, of[] = { 0, 1, 2 };
    static const mo_decomp_states states = { N_DEVICES, device, of, true };

    *f = (fork_classes){ 0 };
    problem_make(&f->problem, FORK, CLUSTER, NULL);
    MUST(mo_decomp_segments_find(f->problem.x, &by_port, true, &f->segments,
                                 &err));
    MUST(mo_decomp_classes_new(f->segments, &states, &by_port, true,
                               &f->classes, &err));
    for (int i = 0; i < f->classes->n; i++)
        if (f->classes->classes[i].part)
            f->fork = &f->classes->classes[i];
    ck_assert_ptr_nonnull(f->fork);
    ck_assert_int_eq(f->fork->n, 4);
}

static void close_classes(fork_classes *f)
{
    mo_decomp_classes_free(f->classes);
    mo_decomp_segments_free(f->segments);
    problem_clear(&f->problem);
}

/* Adds the variant with all ops on one device. */
static void add_variant(fork_classes *f, int device)
{
    int boundary = device * N_DEVICES + device, placement[4];
    mo_schedule *s = NULL;
    mo_instance x;
    bool possible = false;

    for (int i = 0; i < 4; i++)
        placement[i] = device;
    MUST(mo_decomp_class_pin_boundary(f->classes, f->fork, boundary, &x,
                                      &possible, &err));
    ck_assert(possible);
    MUST(mo_heft(&x, &by_port, placement, &s, &err));
    MUST(mo_decomp_class_update_upper(f->classes, f->fork, boundary, s, &err));
    free(x.pin);
}

/* Returns the device of x and y in the start at a boundary of equal devices;
 * -1: there is no start. */
static int start_at(const fork_classes *f, int device, const double *price_ns)
{
    int boundary = device * N_DEVICES + device, found = -1;
    mo_schedule *s = NULL;
    mo_instance x;
    bool possible = false;

    MUST(mo_decomp_class_pin_boundary(f->classes, f->fork, boundary, &x,
                                      &possible, &err));
    MUST(mo_search_priced_start(f->classes, f->fork, boundary, &x, price_ns,
                                NULL, &s, &err));
    if (s) {
        ck_assert_int_eq(s->device[f->fork->u], device);
        ck_assert_int_eq(s->device[f->fork->v], device);
        ck_assert_int_eq(s->device[1], s->device[2]);
        found = s->device[1];
    }
    mo_schedule_free(s);
    free(x.pin);
    return found;
}

START_TEST(without_variants_there_is_none)
{
    const double price_ns[N_DEVICES] = { 0 };
    fork_classes f;

    open_classes(&f);
    ck_assert_int_eq(start_at(&f, A, price_ns), -1);
    close_classes(&f);
}
END_TEST

/* The variant on A becomes one on B, which is as fast; at C its ops stay. */
START_TEST(devices_of_equal_times_are_exchanged)
{
    const double price_ns[N_DEVICES] = { 0 };
    fork_classes f;

    open_classes(&f);
    add_variant(&f, A);
    ck_assert_int_eq(start_at(&f, A, price_ns), A);
    ck_assert_int_eq(start_at(&f, B, price_ns), B);
    ck_assert_int_ne(start_at(&f, C, price_ns), C);
    close_classes(&f);
}
END_TEST

/* The slow device is cheaper as soon as bytes of the fast ones are dear. */
START_TEST(prices_choose_the_variant)
{
    double price_ns[N_DEVICES] = { 0 };
    fork_classes f;

    open_classes(&f);
    add_variant(&f, A);
    add_variant(&f, C);
    ck_assert_int_eq(start_at(&f, A, price_ns), A);
    price_ns[A] = price_ns[B] = 1000;
    ck_assert_int_eq(start_at(&f, A, price_ns), C);
    close_classes(&f);
}
END_TEST

SUITE(priced_start)
{
    TEST(without_variants_there_is_none);
    TEST(devices_of_equal_times_are_exchanged);
    TEST(prices_choose_the_variant);
}
