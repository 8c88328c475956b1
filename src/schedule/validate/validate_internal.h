/* SPDX-License-Identifier: Apache-2.0 */
/*
 * validate_internal.h - shared state of the validator and its checks by
 * constraint.
 */
#ifndef MO_SCHEDULE_VALIDATE_VALIDATE_INTERNAL_H
#define MO_SCHEDULE_VALIDATE_VALIDATE_INTERNAL_H

#include "schedule/validate/validate.h"

enum { MO_VALIDATE_LABEL_SIZE = 768 };

/* A printable name, or an amount with its unit. */
typedef struct mo_validate_label {
    char text[MO_VALIDATE_LABEL_SIZE];
} mo_validate_label;

typedef struct mo_validate_state {
    const mo_instance *x;
    const mo_schedule *s;
    mo_verdict *verdict;
    int max;
    mo_status status; /* failure to list a violation */
    mo_error *err;

    /* The claims, clamped so that sums cannot overflow. */
    int *device; /* by op; MO_FREE where there is no such device */
    int64_t *start_ns, *end_ns;

    /* Transfers of existing items between existing devices, by item, target
     * and start. */
    int n_sent;
    mo_transfer *sent;
} mo_validate_state;

/* Returns -1, 0 or 1, for comparison functions. */
static inline int mo_validate_compare(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

/* Adds a violation; format gives the text behind the number of the
 * constraint. */
void mo_validate_add_violation(mo_validate_state *j, mo_violation_kind rule,
                               int64_t amount, const char *format, ...)
    MO_PRINTF(4, 5);

mo_validate_label mo_validate_label_op(const mo_instance *x, int op);
mo_validate_label mo_validate_label_device(const mo_instance *x, int device);
mo_validate_label mo_validate_label_us(int64_t ns);
/* The transfer of "a" to "b", or to a device. */
mo_validate_label mo_validate_label_transfer(const mo_validate_state *j,
                                             const mo_transfer *t);

/* Returns the tensor that the item is or carries. */
int mo_validate_tensor(const mo_validate_state *j, int item);

/* Returns the first of the claimed transfers of the item to the device, or
 * NULL. */
const mo_transfer *mo_validate_find_transfer(const mo_validate_state *j,
                                             int item, int to);

/* Each of these checks its constraints and adds the violations; it returns an
 * error only when memory cannot be allocated. */
mo_status mo_validate_devices(mo_validate_state *j, mo_error *err);
mo_status mo_validate_transfers(mo_validate_state *j, mo_error *err);
mo_status mo_validate_congestion(mo_validate_state *j, mo_error *err);
mo_status mo_validate_memory(mo_validate_state *j, mo_error *err);

#endif
