/*
 * place_run.h - methods at work on an instance, and what came of them, judged
 * and in the order of merit.
 */
#ifndef MO_DRIVER_PLACE_METHOD_RUN_H
#define MO_DRIVER_PLACE_METHOD_RUN_H

#include "base/error.h"
#include "driver/place/place_options.h"
#include "driver/log.h"
#include "cost/instance.h"
#include "report/method_table.h"
#include "solvers/search/method.h"

/* What all of them work with. */
typedef struct mo_place_setting {
    const mo_place_options *options;
    mo_regime regime;
    const mo_solver *assist; /* or NULL */
    const mo_found *found;
    const mo_talk *talk;
} mo_place_setting;

/* A method, and what came of it. */
typedef struct mo_place_entry {
    const mo_method *method;
    mo_placed placed;
    mo_placement_row row;
    mo_status status; /* of the method; a failure of its own stops no other */
    mo_error err;
} mo_place_entry;

/* Lets one method work for so many seconds (0: no limit), until a signal comes,
 * and has a judge look at what it found.  After a signal only `single` works,
 * which has its answer at once.  entry is the caller's to clear
 * whatever the result, an error is lack of memory, or a policy or curve that
 * cannot be read or written; where there is an answer before the latter, it
 * stands, and only the entry's status tells of it. */
mo_status mo_place_run(const mo_place_setting *setting, const mo_instance *x,
                       const mo_method *method, double seconds,
                       mo_place_entry *entry, mo_error *err);
void mo_place_entry_clear(mo_place_entry *entry);

/* The most useful first: the shortest that fits; then what does not, and those
 * who found nothing.  ranked has a place for each. */
void mo_place_rank(const mo_place_entry *entries, int n,
                   const mo_place_entry **ranked);

/* The best bound that any of the methods has proven, else the quick one of
 * schedule/bound/lower_bound.h.  One that something shorter contradicts is told of and not
 * taken. */
mo_status mo_place_bound(const mo_place_setting *setting, const mo_instance *x,
                         const mo_place_entry *const *ranked, int n,
                         int64_t *bound_ns, const char **bound_by,
                         mo_error *err);

#endif
