/*
 * hopes.h - which pairs of which kinds of pieces are worth trying.
 *
 * Where nothing was tried a pair may turn out as good as its bound says; the
 * more was tried, the less is to be hoped for.  The shortest path by what is
 * hoped for tells which pairs to try next, and what that could gain.
 */
#ifndef MO_SOLVERS_SEARCH_DRIVER_CANDIDATE_SELECT_H
#define MO_SOLVERS_SEARCH_DRIVER_CANDIDATE_SELECT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "solvers/search/driver/state.h"

enum {
    MO_EXACT_OPS = 24,       /* so few are searched through at once */
    MO_MAYBE_EXACT_OPS = 45, /* so few now and then */
    MO_MOST_LEVEL = 24       /* of trying a pair; then it is left alone */
};

/* What might be tried, and what could come of it for the whole. */
typedef struct mo_option {
    int kind, pair;
    bool exact; /* for its bound */
    double gain_ns;
} mo_option;

typedef struct mo_hopes mo_hopes;

/* search must outlive it. */
mo_status mo_hopes_new(mo_search *search, mo_hopes **hopes, mo_error *err);
void mo_hopes_free(mo_hopes *hopes);

/* Looks at what is known now: n options, those that promise most first, which
 * stay the hopes' own.  *part is that of the makespan which is hoped to be
 * saved, sooner or later. */
mo_status mo_hopes_find(mo_hopes *hopes, const mo_option **options, size_t *n,
                        double *part, mo_error *err);

#endif
