/* SPDX-License-Identifier: Apache-2.0 */
/*
 * proof.h - certificate of a lower bound on the makespan or the period: the
 * parameters from which the bound is recomputed (proof_verify.h), as text of
 * one line an entry (moirai-proof(5)).
 *
 * A certificate names a chain of ops that precede each other.  The ops between
 * two of them are a segment, and a lower bound on its time by the devices of
 * the two is an entry of a table; equal segments share one.  The bound is a
 * shortest path over the devices of the chain.  Other entries are bounds of
 * the whole instance; those of the period are all of that kind.
 */
#ifndef MO_SCHEDULE_PROOF_PROOF_H
#define MO_SCHEDULE_PROOF_PROOF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/out.h"

/* Kinds of entries; the numbers behind the value are their parameters. */
typedef enum mo_proof_kind {
    /* Of a segment, from the end of its first op to the start of its last. */
    MO_PROOF_TEST,   /* test by loads (segment_bound.h): longest time tested */
    MO_PROOF_LOAD,   /* load bound of equal branches */
    MO_PROOF_COLGEN, /* column generation: effort, iterations */
    MO_PROOF_EXACT,  /* exact search: nodes */
    /* Of consecutive segments, from the end of the first op to the end of the
     * last. */
    MO_PROOF_SPAN,  /* exact search: nodes */
    MO_PROOF_CASES, /* cases of the devices of hub ops, with the tables of the
                       segments: steps */
    /* Of the whole. */
    MO_PROOF_PRICES,     /* prices of memory by device, in 2^-32 ns a byte */
    MO_PROOF_COLOCATION, /* schedule/bound/colocation_bound.h with the tables of
                            the segments: work of tests, nodes */
    MO_PROOF_WHOLE,      /* schedule/bound/lower_bound.h: counted work */
    /* Of the period.  The unit of the prices of memory belongs to a period; all
     * prices are multiples of 2^-58. */
    MO_PROOF_LAGRANGIAN, /* that period; prices of resources and memories */
    MO_PROOF_BRANCH,     /* branch and bound: that period, work, prices */
    MO_PROOF_PACKING,    /* none */
    MO_PROOF_SETS,       /* bound by sets of units: work */
    MO_PROOF_ENUMERATE,  /* all placements: most requests in flight, 0: any */
    MO_PROOF_N_KINDS
} mo_proof_kind;

extern const char *const mo_proof_kind_names[];

typedef struct mo_proof_entry {
    mo_proof_kind kind;
    int first, last; /* segments of the chain, the first ones of their class */
    int a, b;        /* devices of the ops at their ends; 0: no such op */
    int64_t value_ns;
    size_t params, n_params; /* in mo_proof.params */
    int line;                /* of the file; 0: none */
} mo_proof_entry;

/* Whether an entry is about the whole instance, without segment and devices. */
static inline bool mo_proof_is_whole(mo_proof_kind kind)
{
    return kind >= MO_PROOF_PRICES;
}

static inline bool mo_proof_is_of_period(mo_proof_kind kind)
{
    return kind >= MO_PROOF_LAGRANGIAN;
}

static inline bool mo_proof_is_span(mo_proof_kind kind)
{
    return kind == MO_PROOF_SPAN || kind == MO_PROOF_CASES;
}

/* How a lower bound of a table was found. */
typedef struct mo_proof_reason {
    bool known; /* else it has no entry */
    mo_proof_kind kind;
    int64_t params[2];
} mo_proof_reason;

/* Values from this on mean that no schedule has these devices. */
#define MO_PROOF_NEVER_NS MO_MAX_TOTAL_NS

/* A certificate.  The caller frees it with mo_proof_free(). */
typedef struct mo_proof {
    char file[128];   /* for messages; "": none */
    uint64_t digest;  /* of the instance and its regime */
    bool unlimited;   /* holds without limits of memory */
    int64_t bound_ns; /* what it proves, by its author */
    int *chain;       /* ops in ascending order, each precedes the next */
    size_t n_chain, chain_room;
    mo_proof_entry *entries;
    size_t n, room;
    int64_t *params;
    size_t n_params, params_room;
} mo_proof;

mo_status mo_proof_new(mo_proof **proof, mo_error *err);
void mo_proof_free(mo_proof *proof);

mo_status mo_proof_add_op(mo_proof *proof, int op, mo_error *err);

/* Adds an entry with n parameters; its members params and n_params are set
 * here. */
mo_status mo_proof_add(mo_proof *proof, mo_proof_entry entry,
                       const int64_t *params, size_t n, mo_error *err);

/* Writes the lines, each behind mark and " proof ". */
void mo_proof_write(const mo_proof *proof, char mark, mo_out *out);

/* Reads the lines of a solution or model that begin with '#', '\\' or '*' and
 * " proof ", and skips all others; *proof is NULL where there are none.  name
 * is for messages.  Malformed lines are MO_E_SYNTAX with their number. */
mo_status mo_proof_read(const char *name, const char *text, size_t size,
                        mo_proof **proof, mo_error *err);

#endif
