/*
 * proof.h - one attempt to raise what is proven of a block between two devices.
 *
 * As with try.h, attempts change nothing but themselves.
 */
#ifndef MO_SEARCH_PROOF_H
#define MO_SEARCH_PROOF_H

#include <stdint.h>

#include "base/error.h"
#include "base/stop.h"
#include "solvers/search/blocks.h"
#include "solvers/search/fork.h"

typedef enum mo_proof_way {
    MO_PROOF_FAST, /* what loads and patterns tell */
    MO_PROOF_TIMED,
    MO_PROOF_EXACT
} mo_proof_way;

typedef struct mo_proof {
    int block, pair;
    mo_proof_way how;
    int64_t
        target_ns; /* to be refuted, or a part of it, but for the fast way */
    int effort;    /* from 1 on; doubles */
    const mo_fork *fork;

    /* What came of it. */
    int64_t lower_ns;
    int64_t failed_ns; /* the least that was not refuted; INT64_MAX before, and
                          where all was */
    mo_hint hint;      /* the caller's */
    mo_status status;
    mo_error err;
} mo_proof;

void mo_proof_make(const mo_blocks *blocks, mo_proof *it, const mo_stop *stop);

#endif
