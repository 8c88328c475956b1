/*
 * validate_parts.h - the steps of a judgement, and how they speak.
 */
#ifndef MO_SCHEDULE_VALIDATE_VALIDATE_INTERNAL_H
#define MO_SCHEDULE_VALIDATE_VALIDATE_INTERNAL_H

#include "schedule/validate/validate.h"

enum { MO_SHOWN_SIZE = 768 };

/* A name that can be printed, or an amount with its unit. */
typedef struct mo_shown {
    char text[MO_SHOWN_SIZE];
} mo_shown;

typedef struct mo_judge {
    const mo_instance *x;
    const mo_schedule *s;
    mo_verdict *verdict;
    int max;
    mo_status status; /* of what could not be listed */
    mo_error *err;

    /* The claims, within what can be added up without overflow. */
    int *device; /* by op; MO_FREE where there is no such device */
    int64_t *start_ns, *end_ns;

    /* Transfers of an item there is, between devices there are, by item, target
     * and start. */
    int n_sent;
    mo_transfer *sent;
} mo_judge;

/* Something that occupies something. */
typedef struct mo_span {
    int64_t resource;
    int64_t start_ns, end_ns;
    int number; /* of the op or transfer */
} mo_span;

/* Adds a violation; text is what comes behind the number of the rule. */
void mo_judge_say(mo_judge *j, mo_rule_broken rule, int64_t amount,
                  const char *format, ...) MO_PRINTF(4, 5);

mo_shown mo_shown_op(const mo_instance *x, int op);
mo_shown mo_shown_device(const mo_instance *x, int device);
mo_shown mo_shown_us(int64_t ns);
/* The transfer of "a" to "b", or to a device. */
mo_shown mo_shown_transfer(const mo_judge *j, const mo_transfer *t);

/* The op that made the item, and the tensor that it is or carries. */
int mo_judge_producer(const mo_judge *j, int item);
int mo_judge_tensor(const mo_judge *j, int item);

/* The first of those sent that brings the item to the device, or NULL. */
const mo_transfer *mo_judge_find_sent(const mo_judge *j, int item, int to);

typedef void mo_overlap_found(mo_judge *j, const mo_span *a, const mo_span *b,
                              int64_t amount_ns);

/* Sorts the spans; tells of each that begins inside another on the same
 * resource. */
void mo_judge_overlaps(mo_judge *j, mo_span *spans, size_t n,
                       mo_overlap_found *found);

/* Each of these looks at its rules; *err and the status are for memory. */
mo_status mo_judge_devices(mo_judge *j, mo_error *err);
mo_status mo_judge_transfers(mo_judge *j, mo_error *err);
mo_status mo_judge_congestion(mo_judge *j, mo_error *err);
mo_status mo_judge_memory(mo_judge *j, mo_error *err);

#endif
