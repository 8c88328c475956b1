/* SPDX-License-Identifier: Apache-2.0 */
/*
 * blocks.h - what kinds of pieces take at least, from the blocks that a chain
 * of ops divides them into.
 *
 * Along ops that come one behind the other the least times of what lies between
 * them add up (schedule/bound/op_chain.h), clean cuts or not.  Blocks that are
 * alike, in whatever piece, are looked at once; a bound on one of them by the
 * devices at its ends, from the end of its u to the start of its v, raises
 * those of all pieces that it is in.
 */
#ifndef MO_SOLVERS_SEARCH_BOUND_CHAIN_CHAIN_BOUND_H
#define MO_SOLVERS_SEARCH_BOUND_CHAIN_CHAIN_BOUND_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/stop.h"
#include "schedule/bound/op_chain.h"
#include "schedule/allowed_devices.h"
#include "solvers/search/decomp/solution_hint.h"
#include "solvers/search/decomp/segment_class.h"

/* Blocks that are alike.  By pair of devices at their ends, a * K + b, with 0
 * where there is no such end: */
typedef struct mo_chain_block {
    int cls; /* of pieces: where it was met first */
    const mo_bound_segment *segment;
    int64_t *lower_ns; /* proven; INT64_MAX: cannot be */
    int64_t *seen_ns;  /* what some schedule took; INT64_MAX: never seen */
    mo_decomp_solution_hint *hints;
} mo_chain_block;

/* A kind of pieces in blocks. */
typedef struct mo_chain_partition {
    mo_allowed_devices places; /* of the kind's instance */
    mo_bound_chain *chain;
    int *block; /* by segment of the chain; all NULL where there is no part */
} mo_chain_partition;

typedef struct mo_chain_blocks {
    const mo_decomp_classes *classes;
    int n;
    mo_chain_block *blocks;
    mo_chain_partition *chained; /* by kind */
} mo_chain_blocks;

/* Every device has to be a state.  Does what can be done in moments; where that
 * is too much, *blocks is NULL.  Stopped, it knows less. */
mo_status mo_chain_blocks_new(const mo_decomp_classes *classes, int threads,
                              const mo_stop *stop, mo_chain_blocks **blocks,
                              mo_error *err);
void mo_chain_blocks_free(mo_chain_blocks *blocks);

/* Of tables by block, INT64_MAX for what cannot be: what they come to for a
 * kind from end to end, as mo_decomp_class has it.  NULL: those of the blocks.
 */
mo_status mo_chain_blocks_min_times(const mo_chain_blocks *blocks, int cls,
                                    int64_t *const *tables, int64_t *times_ns,
                                    mo_error *err);

/* The pairs by segment that a shortest way takes from end to end; 0s where
 * there is none. */
mo_status mo_chain_blocks_shortest_path(const mo_chain_blocks *blocks, int cls,
                                        int boundary, int64_t *const *tables,
                                        int *boundaries, mo_error *err);

/* Looks at a schedule of a kind for what its blocks can take. */
void mo_chain_blocks_record_schedule(mo_chain_blocks *blocks, int cls,
                                     const mo_schedule *schedule);

/* Owns what the hint owns from then on. */
void mo_chain_blocks_set_hint(mo_chain_blocks *blocks, int block, int boundary,
                              mo_decomp_solution_hint hint);

#endif
