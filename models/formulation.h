/* SPDX-License-Identifier: Apache-2.0 */
/*
 * formulation.h - table of the MILP formulations that can be written; one file
 * each.
 */
#ifndef MO_MODELS_FORMULATION_H
#define MO_MODELS_FORMULATION_H

#include <stdbool.h>

#include "base/error.h"
#include "models/frame/frame.h"
#include "models/sink/sink.h"

typedef struct mo_formulation {
    const char *name, *help;
    const char *optimum;   /* what it is, where it is not that of the instance;
                              for the heading; or NULL */
    bool lacks_places;     /* no placement follows from a solution */
    bool is_period;        /* the objective is the period */
    bool has_tensors_once; /* models a tensor sent once for all readers */
    bool has_regime;       /* models congestion and memory at all */

    /* Allocates *state for the frame, which must outlive it. */
    mo_status (*prepare)(const mo_frame *frame, void **state, mo_error *err);

    /* Declares every column, the makespan first; the same ones in the same
     * order at every call. */
    void (*columns)(void *state, mo_sink *sink);

    /* Writes every row, over the ids that columns() got. */
    void (*rows)(void *state, mo_sink *sink);
    void (*release)(void *state); /* frees the state; accepts NULL */

    /* Return the number of transfers, and their numbers
     * (models/transfer_number.h) one by one; both NULL where they are the
     * flows of the instance. */
    int (*n_transfers)(const void *state);
    int (*transfer)(const void *state, int i);

    /* Returns the frame of the model; NULL: the one given to prepare(). */
    const mo_frame *(*frame)(const void *state);

    /* Returns whether the columns' values are a feasible MIP start; NULL: they
     * are if the frame has a start. */
    bool (*has_start)(const void *state);
} mo_formulation;

extern const mo_formulation mo_formulation_paper;
extern const mo_formulation mo_formulation_compact;
extern const mo_formulation mo_formulation_getf;
extern const mo_formulation mo_formulation_sct;
extern const mo_formulation mo_formulation_pesto;
extern const mo_formulation mo_formulation_period;
extern const mo_formulation mo_formulation_patterns;
extern const mo_formulation mo_formulation_patterns_lower;
extern const mo_formulation mo_formulation_patterns_period;

/* All of them; ends with NULL.  The default is the first. */
extern const mo_formulation *const mo_formulations[];
#define MO_FORMULATION_CHOICES                                                 \
    "compact|paper|getf|sct|pesto|period|patterns|"                            \
    "patterns-lower|patterns-period"

/* Returns the formulation of that name, which must be one of the above. */
const mo_formulation *mo_formulation_of(const char *name);

/* Returns whether the formulation of that name, or none, is of the period. */
bool mo_formulation_has_period(const char *name);

#endif
