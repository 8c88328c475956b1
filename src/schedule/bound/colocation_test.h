/* SPDX-License-Identifier: Apache-2.0 */
/*
 * colocation_test.h - destructive test by colocation: sets of ops that are on
 * one device within a time under test.
 *
 * The members are ops of an interval of the schedule.  A pair may be separated
 * only if the interval is long enough; below that time the two are on one
 * device.  Sets of such ops (union-find) must fit into the memory of one
 * device, and their processing times there add up.  The least time at which no
 * set contradicts is a lower bound on the length of the interval.
 */
#ifndef MO_SCHEDULE_BOUND_COLOCATION_TEST_H
#define MO_SCHEDULE_BOUND_COLOCATION_TEST_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "schedule/allowed_devices.h"

/* Larger than every time, and so small that three of them can be added. */
#define MO_COLOC_NEVER_NS (2 * MO_MAX_TOTAL_NS)

/* Used by one thread at a time. */
typedef struct mo_coloc_test mo_coloc_test;

/* domains must outlive the test.  The caller frees *test with
 * mo_coloc_test_free(), which accepts NULL. */
mo_status mo_coloc_test_new(const mo_allowed_devices *domains,
                            mo_coloc_test **test, mo_error *err);
void mo_coloc_test_free(mo_coloc_test *test);

/* Times and memory by class of equal devices. */
typedef struct mo_coloc_class_data {
    int n_classes;
    int *n_devices;          /* by class */
    int64_t *capacity_bytes; /* by class */
    int64_t *p_ns;           /* by op and class; MO_COLOC_NEVER_NS: not there */
    int64_t *bytes;          /* by op: resident */
} mo_coloc_class_data;

/* Returns the data of the instance, which the test owns. */
const mo_coloc_class_data *mo_coloc_test_class_data(const mo_coloc_test *test);

/* Removes all members. */
void mo_coloc_test_begin(mo_coloc_test *test);

/* Adds an op, each at most once, and returns its number.  head_ns is
 * the least time from the begin of the interval to its start, tail_ns from its
 * start, with its processing, to the end of the interval.
 * With runs false only its memory counts: it runs outside. */
int mo_coloc_test_add(mo_coloc_test *test, int op, int64_t head_ns,
                      int64_t tail_ns, bool runs);

/* Raises the delivery time of a member, its tail after processing, which is 0
 * at first. */
void mo_coloc_test_raise_delivery(mo_coloc_test *test, int member,
                                  int64_t delivery_ns);

/* Removes all pairs; the members stay. */
void mo_coloc_test_clear_pairs(mo_coloc_test *test);

/* Below least_ns the members a and b are on one device.  Fails only when
 * memory cannot be allocated. */
mo_status mo_coloc_test_join(mo_coloc_test *test, int64_t least_ns, int a,
                             int b, mo_error *err);

/* Returns the least time from from_ns on that is not refuted, with the members
 * a and b on different devices unless a is negative; MO_COLOC_NEVER_NS: every
 * time is. */
int64_t mo_coloc_test_least_ns(mo_coloc_test *test, int64_t from_ns, int a,
                               int b);

#endif
