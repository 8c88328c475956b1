/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chain_bound.h - lower bounds on segment classes from the blocks of a chain
 * of ops.
 *
 * Along a chain of ops that precede each other the least times of the parts
 * between them add up (schedule/bound/op_chain.h), whether they are
 * clean cuts or not. Isomorphic blocks, in whatever segment, are bounded
 * once; a bound on one of them by the devices at its ends, from the end of its
 * u to the start of its v, raises those of all segments that contain it.
 */
#ifndef MO_SOLVERS_SEARCH_BOUND_CHAIN_CHAIN_BOUND_H
#define MO_SOLVERS_SEARCH_BOUND_CHAIN_CHAIN_BOUND_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/stop.h"
#include "schedule/bound/op_chain.h"
#include "schedule/allowed_devices.h"
#include "schedule/proof/proof.h"
#include "solvers/search/decomp/solution_hint.h"
#include "solvers/search/decomp/segment_class.h"

/* Class of isomorphic blocks. Tables are by boundary, the pair of devices at
 * their ends, a * K + b, with 0 where there is no such end. */
typedef struct mo_chain_block {
    int cls; /* segment class of its first occurrence */
    const mo_bound_segment *segment;
    int64_t *lower_ns;        /* lower bounds; INT64_MAX: infeasible */
    mo_proof_reason *reasons; /* of the lower bounds, for certificates */
    int64_t *upper_ns;        /* times in known schedules; INT64_MAX: none */
    mo_decomp_solution_hint *hints;
} mo_chain_block;

/* The blocks of a segment class. */
typedef struct mo_chain_partition {
    mo_allowed_devices places; /* of the class's instance */
    mo_bound_chain *chain;
    int *block; /* by segment of the chain; all members are NULL if the class
                   has no instance */
} mo_chain_partition;

typedef struct mo_chain_blocks {
    const mo_decomp_classes *classes;
    int n;
    mo_chain_block *blocks;
    mo_chain_partition *partitions; /* by segment class */
} mo_chain_blocks;

/* Allocates the blocks of all segment classes and computes their first bounds
 * with so many threads; requires every device to be a boundary state. *blocks
 * is NULL, with MO_OK returned, where that would take too long. A stop leaves
 * weaker bounds. classes is borrowed; the caller frees *blocks with
 * mo_chain_blocks_free(), which accepts NULL. */
mo_status mo_chain_blocks_new(const mo_decomp_classes *classes, int threads,
                              const mo_stop *stop, mo_chain_blocks **blocks,
                              mo_error *err);
void mo_chain_blocks_free(mo_chain_blocks *blocks);

/* Computes the least times of a segment class by boundary, as in
 * mo_decomp_class, from tables by block with INT64_MAX for infeasible entries;
 * tables NULL: the lower bounds of the blocks. times_ns is a buffer of the
 * caller. */
mo_status mo_chain_blocks_min_times(const mo_chain_blocks *blocks, int cls,
                                    int64_t *const *tables, int64_t *times_ns,
                                    mo_error *err);

/* Stores, by segment of the chain, the boundaries on a shortest path from end
 * to end in the caller's buffer; 0 where there is none. */
mo_status mo_chain_blocks_shortest_path(const mo_chain_blocks *blocks, int cls,
                                        int boundary, int64_t *const *tables,
                                        int *boundaries, mo_error *err);

/* Updates upper_ns from a schedule of a segment class. */
void mo_chain_blocks_record_schedule(mo_chain_blocks *blocks, int cls,
                                     const mo_schedule *schedule);

/* Stores a hint; the blocks own its arrays from then on. */
void mo_chain_blocks_set_hint(mo_chain_blocks *blocks, int block, int boundary,
                              mo_decomp_solution_hint hint);

#endif
