/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pattern_model.h - state of a model of patterns (patterns.c): its columns are
 * declared in pattern_columns.c.
 */
#ifndef MO_MODELS_PATTERNS_PATTERN_MODEL_H
#define MO_MODELS_PATTERNS_PATTERN_MODEL_H

#include "models/formulation.h"
#include "models/patterns/pattern_set.h"
#include "models/sink/scale.h"

typedef enum mo_pattern_side {
    MO_PATTERNS_UPPER,
    MO_PATTERNS_LOWER,
    MO_PATTERNS_PERIOD
} mo_pattern_side;

/* A column p. */
typedef struct mo_pattern_choice {
    int segment, from, to, variant;
    int64_t ns;
    const mo_pattern *pattern; /* NULL: a lower bound */
} mo_pattern_choice;

/* A column t. */
typedef struct mo_pattern_send {
    int segment, number; /* models/transfer_number.h */
} mo_pattern_send;

typedef struct mo_pattern_model {
    const mo_frame *frame;
    const mo_pattern_set *set;
    const mo_instance *x;
    mo_pattern_side side;
    mo_pattern_choice *choices; /* by segment */
    size_t n_choices, room;
    size_t *first_choice;   /* by segment, and the end */
    mo_pattern_send *sends; /* by segment, then number */
    size_t n_sends, sends_room;
    bool *used;     /* by op and device: there is a column x */
    int64_t *bytes; /* scratch, by p and q: memory on a device */

    /* Columns. */
    int first_p, first_c, first_s, first_t;
    int whole;  /* q; -1: none */
    int *place; /* by op and device, or -1 */
} mo_pattern_model;

/* Of mo_formulation. */
mo_status mo_pattern_model_new(const mo_frame *frame, mo_pattern_side side,
                               void **state, mo_error *err);
void mo_pattern_model_free(void *state);
void mo_pattern_model_columns(void *state, mo_sink *sink);
bool mo_pattern_model_has_start(const void *state);

/* Returns the pattern of the incumbent, or NULL. */
const mo_pattern *mo_pattern_model_known(const mo_pattern_model *m,
                                         int segment);

/* Returns the start of a transfer in a pattern, -1: it is not in it. */
int64_t mo_pattern_model_send_ns(const mo_pattern_model *m, const mo_pattern *p,
                                 int number);

static inline double mo_pattern_model_units(const mo_pattern_model *m,
                                            int64_t ns)
{
    return mo_scale_time(m->frame->unit_ns, ns);
}

/* Returns the length of the pattern of the incumbent. */
static inline int64_t mo_pattern_model_known_ns(const mo_pattern_model *m,
                                                int segment)
{
    const mo_pattern *p = mo_pattern_model_known(m, segment);

    return p ? p->ns : 0;
}

#endif
