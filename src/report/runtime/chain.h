/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chain.h - a decoder as a chain of units, in numbers: the embedding (unit 0),
 * the layers (1 to n), and what follows them, the head (n + 1).
 *
 * A runtime places whole units.  The ops of a unit run one after the other, and
 * a unit reads the output of the one before it alone, so that a run takes the
 * sum of the times of units and of the transfers between them.  A request is a
 * weighted sum of runs, its phases: one of the prompt, and one for each token
 * after it.
 *
 * The experts of a layer may be placed apart from it, in main memory.
 */
#ifndef MO_REPORT_RUNTIME_CHAIN_H
#define MO_REPORT_RUNTIME_CHAIN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "cost/cluster.h"
#include "cost/instance.h"
#include "graph/graph.h"

enum {
    MO_CHAIN_MAX_DEVICES = 64,
    MO_CHAIN_MAX_LAYERS = 1024,
    MO_CHAIN_MAX_PHASES = 4,
    MO_CHAIN_PARTS = 3, /* of the experts of a layer: up, gate, down */
    MO_CHAIN_NONE = -1
};

/* How a runtime executes units; all false: as placed. */
typedef struct mo_chain_rules {
    bool embeds_on_host; /* the embedding is in main memory, outputs return */
    bool uses_cpu;       /* units may be on the CPU */
    bool routes_by_host; /* transfers of other machines pass the host */
    bool in_any_order;   /* layers of a device need not be contiguous */
    bool ties_ends;     /* embedding and head that share a table are together */
    bool moves_experts; /* experts may be in main memory */
    bool limits_context; /* to the context length the model was trained for */
    /* Units in main memory run on a GPU, which gets their weights for each
     * batch, where a run has at least so many tokens; 0: on the CPU. */
    int copies_from_tokens;
    int batch_tokens; /* most tokens of a batch; 0: no limit */
    /* Memory of a GPU that is left for other uses, unless the cluster says how
     * much: so many bytes, but no more than an eighth of it; and a share of
     * all. Buffers for a batch of batch_tokens come on top. */
    int64_t reserve_bytes;
    double reserve_share;
} mo_chain_rules;

typedef struct mo_chain_phase {
    const char *name;   /* a constant */
    double weight;      /* runs of it in a request */
    int64_t tokens;     /* that a run computes */
    int64_t *time_ns;   /* unit u on device k: [u * K + k], without experts */
    int64_t *expert_ns; /* the same of its experts */
    int64_t *alone_ns;  /* unit u on the host where no GPU is in use */
    /* Transfer from unit u to u + 1, from device a to b: [(u * K + a) * K + b];
     * of the head to the host. */
    int64_t *transfer_ns;
    int64_t *expert_transfer_ns; /* the same to experts and back, without u: all
                                    layers are equally wide */
} mo_chain_phase;

typedef struct mo_chain {
    int n_layers, n_units, n_devices, n_phases;
    mo_chain_rules rules;
    const mo_cluster *cluster; /* borrowed */
    int host;                  /* the CPU, or MO_CHAIN_NONE */
    mo_chain_phase phases[MO_CHAIN_MAX_PHASES];
    const mo_graph *graph; /* of the first phase, borrowed; or NULL */
    int *unit;             /* by op of it */
    int64_t *memory_bytes; /* by unit, without experts */
    int64_t *expert_bytes;
    int64_t (*part_bytes)[MO_CHAIN_PARTS]; /* of it, by unit; or NULL */
    int64_t
        *capacity_bytes; /* by device, without buffers; INT64_MAX: no limit */
    int64_t buffer_bytes[MO_CHAIN_MAX_DEVICES]; /* for values of a batch */
    int64_t tied_bytes; /* of a table that embedding and head share: a copy
                           for each, unless they are on one device */
    bool is_remote[MO_CHAIN_MAX_DEVICES]; /* on another machine than the host */
} mo_chain;

/* A phase in the form it is read: a graph whose ops of a layer have a group. */
typedef struct mo_chain_source {
    const char *name; /* a constant */
    double weight;
    int64_t tokens;
    const mo_graph *graph;
    const mo_instance *x;
} mo_chain_source;

/* Makes the chain of phases, which have the same ops.  Fails with MO_E_SUPPORT
 * where they have no layers or are no chain.  The caller frees *chain. */
mo_status mo_chain_make(const mo_chain_source *sources, int n_phases,
                        const mo_cluster *cluster, const mo_profile *profile,
                        const mo_chain_rules *rules, mo_chain **chain,
                        mo_error *err);
void mo_chain_free(mo_chain *chain);

/* Sets unit, a buffer by op, to the unit of each op. */
mo_status mo_chain_units_of(const mo_graph *g, int *unit, int *n_layers,
                            mo_error *err);

/* Adds the bytes of an op to the part of its unit's experts that its name gives
 * ("blk.7.ffn_up_exps"), or does nothing for another name. */
void mo_chain_add_part(mo_chain *c, int unit, const char *name, int64_t bytes);

/* A placement of a chain. */
typedef struct mo_chain_placement {
    int *device; /* by unit; MO_CHAIN_NONE: in main memory that the cluster
                    does not have */
    bool *experts_on_host; /* by unit */
    unsigned char *kept;   /* parts of these that are on the device all the
                              same, a bit each */
} mo_chain_placement;

extern const char *const mo_chain_part_names[MO_CHAIN_PARTS];

mo_status mo_chain_placement_new(const mo_chain *c, mo_chain_placement *p,
                                 mo_error *err);
void mo_chain_placement_clear(mo_chain_placement *p);

/* Times and memory of a placement. */
typedef struct mo_chain_figures {
    int64_t phase_ns[MO_CHAIN_MAX_PHASES];
    int64_t transfer_ns[MO_CHAIN_MAX_PHASES]; /* part of it */
    /* By device: time of a run of each phase, and memory. */
    int64_t device_ns[MO_CHAIN_MAX_PHASES][MO_CHAIN_MAX_DEVICES];
    int64_t memory_bytes[MO_CHAIN_MAX_DEVICES];
    double request_ns; /* weighted sum of phases */
    bool fits;
} mo_chain_figures;

void mo_chain_evaluate(const mo_chain *c, const mo_chain_placement *p,
                       mo_chain_figures *figures);

/* Keeps parts of the experts of one layer of each device there, as many as fit
 * and save time; returns whether there are any. */
bool mo_chain_keep_parts(const mo_chain *c, mo_chain_placement *p,
                         mo_chain_figures *figures);

#endif
