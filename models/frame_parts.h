/*
 * frame_parts.h - the steps by which a frame is made, in order.  Each fills its
 * part of a frame that has all its arrays and trusts those before it.
 */
#ifndef MO_MODELS_FRAME_PARTS_H
#define MO_MODELS_FRAME_PARTS_H

#include "models/frame.h"

/* The start and how long it takes, given the cuts. */
mo_status mo_frame_find_upper(mo_frame *f, mo_error *err);

/* Who may run where for reasons other than time: pins, and what does not fit a
 * device all by itself.  Ops of a group are allowed the same devices. */
mo_status mo_frame_find_allowed(mo_frame *f, mo_error *err);

/* For an op that nothing is left for: its devices become what its pin says.
 * Then no schedule exists, and the model has to say so by itself. */
void mo_frame_allow_by_pin(mo_frame *f, int op);

/* Heads and tails, and who may not run where because of them. */
mo_status mo_frame_find_windows(mo_frame *f, mo_error *err);

/* The frame's table of segments, for the devices that are allowed now. */
mo_status mo_frame_find_segments(mo_frame *f, mo_error *err);

/* A time that the ops first, ..., last - 1 take together wherever they go:
 * their work, spread over the devices as if it could be cut at will. */
int64_t mo_frame_load_ns(const mo_frame *f, int first, int last,
                         int64_t *scratch /* by device */);

/* Devices equal in everything. */
mo_status mo_frame_find_twins(mo_frame *f, mo_error *err);

/* Renames equal devices in the start, so that in each class of them those with
 * smaller numbers are used first, by the number of their first op. */
mo_status mo_frame_relabel_start(mo_frame *f, mo_error *err);

#endif
