/* SPDX-License-Identifier: Apache-2.0 */
/*
 * transfer_items.h - the candidate transfers that a model has to decide
 * about.
 *
 * Per edge every flow is an item, and has the flow's number.  With tensors
 * sent once, a tensor that only one op elsewhere can read is an item, and one
 * that several can read is an item for each device where some of them may run:
 * sent there once, for all of them.
 *
 * An item goes from a to b on an arc; a = b means that nothing has to be sent.
 * Arcs that take too long for the frame's horizon are left out.  Items are in
 * the order of their producers.
 */
#ifndef MO_MODELS_COMPACT_TRANSFER_ITEMS_H
#define MO_MODELS_COMPACT_TRANSFER_ITEMS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "models/frame/frame.h"

typedef struct mo_transfer_arc {
    int a, b;
} mo_transfer_arc;

/* A device's port, a channel or a link that an item may need, and when: over
 * the arcs that need it, the earliest and latest start and end. */
typedef struct mo_transfer_use {
    int resource;
    bool takes_time; /* on some arc */
    int64_t start_min_ns, start_max_ns;
    int64_t end_min_ns, end_max_ns;
} mo_transfer_use;

typedef struct mo_transfer_item {
    int from;   /* the producer */
    int to;     /* the reader; MO_FREE: all readers on the device */
    int device; /* the target, if there are several readers; else MO_FREE */
    int tensor;
    int number; /* of the flow or tensor, as in a mo_schedule */
    int name;   /* in columns: models/transfer_number.h */
    int row;    /* of the instance's transfer times */

    /* Parallel flows between the same two ops share their arcs: this is the
     * number of the first of them. */
    int first;
    bool no_parallel;      /* no parallel flow between these two ops */
    bool never_sent;       /* never sent: its ends are always on one device */
    int arc_start, n_arcs; /* none where never_sent */
    bool may_be_sent;      /* some arc leads to another device */
    int use_start, n_uses; /* sorted by resource */
    bool always_uses;      /* on every arc to another device */
    int64_t start_min_ns;  /* over all arcs, sent or not */
    int64_t end_max_ns;
} mo_transfer_item;

typedef struct mo_transfer_items {
    const mo_frame *frame;
    int n;
    mo_transfer_item *items;
    int *of_tensor; /* those of tensor t: [of_tensor[t], ...[t + 1]) */
    mo_transfer_arc *arcs;
    int n_arcs;
    mo_transfer_use *uses;
    int n_uses;
    int n_resources;
} mo_transfer_items;

/* The frame must outlive the items.  The caller frees *items with
 * mo_transfer_items_free(), which accepts NULL.  Returns MO_E_LIMIT when there
 * are more than INT_MAX of them. */
mo_status mo_transfer_items_make(const mo_frame *frame,
                                 mo_transfer_items **items, mo_error *err);
void mo_transfer_items_free(mo_transfer_items *items);

/* Returns whether both are on one device in every placement: one op, one
 * group, or one and the same allowed device. */
bool mo_transfer_items_always_colocated(const mo_frame *frame, int i, int j);

/* Returns whether op, a reader of the item's tensor, waits for the item where
 * it may. */
bool mo_transfer_items_reads(const mo_frame *frame,
                             const mo_transfer_item *item, int op);

/* Interchangeable items: between the same two ops and equally long on every
 * arc, so that their order makes no difference. */
static inline bool mo_transfer_items_interchangeable(const mo_transfer_item *a,
                                                     const mo_transfer_item *b)
{
    return a->device == MO_FREE && b->device == MO_FREE &&
           a->first == b->first && a->row == b->row;
}

/* Returns the duration of an item on an arc. */
int64_t mo_transfer_items_ns(const mo_transfer_items *items,
                             const mo_transfer_item *item, mo_transfer_arc arc);

/* Returns whether a transfer from a to another device b needs the resource. */
bool mo_transfer_items_needs_resource(const mo_frame *frame,
                                      mo_transfer_arc arc, int resource);

/* Returns whether there is a resource that both arcs, to other devices,
 * need. */
bool mo_transfer_items_share_resource(const mo_frame *frame,
                                      mo_transfer_arc first,
                                      mo_transfer_arc second);

/* Resources with congestion by port: the output and input port of a device. */
static inline int mo_transfer_items_egress(const mo_frame *frame, int device)
{
    (void) frame;
    return device;
}

static inline int mo_transfer_items_ingress(const mo_frame *frame, int device)
{
    return frame->x->n_devices + device;
}

/* Stores the resources that the items use; for mo_transfer_items_make(). */
mo_status mo_transfer_items_find_uses(mo_transfer_items *items, mo_error *err);

/* Returns the latest moment at which an item may arrive on device b; INT64_MIN:
 * no reader may be there. */
int64_t mo_transfer_items_deadline(const mo_frame *frame,
                                   const mo_transfer_item *item, int b);

/* Returns the latest start of an op on a device where it may run. */
static inline int64_t mo_transfer_items_latest_start(const mo_frame *f, int op,
                                                     int k)
{
    return f->horizon_ns - f->tail_ns[(int64_t) op * f->x->n_devices + k] -
           mo_instance_p_ns(f->x, op, k);
}

/* Returns its earliest end there. */
static inline int64_t mo_transfer_items_earliest_end(const mo_frame *f, int op,
                                                     int k)
{
    return f->head_ns[(int64_t) op * f->x->n_devices + k] +
           mo_instance_p_ns(f->x, op, k);
}

#endif
