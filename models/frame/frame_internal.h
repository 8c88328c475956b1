/* SPDX-License-Identifier: Apache-2.0 */
/*
 * frame_parts.h - the steps by which a frame is made, in order.  Each fills its
 * part of a frame that has all its arrays and trusts those before it.
 */
#ifndef MO_MODELS_FRAME_FRAME_INTERNAL_H
#define MO_MODELS_FRAME_FRAME_INTERNAL_H

#include "models/frame/frame.h"
#include "schedule/allowed_devices.h"

/* Who may run where, as far as the frame knows by now. */
static inline mo_allowed_devices mo_frame_allowed_devices(const mo_frame *f)
{
    return (mo_allowed_devices){ f->x, f->regime, f->allowed };
}

/* The start, unless it was given, and how long it takes; the cuts are known. */
mo_status mo_frame_find_upper(mo_frame *f, mo_error *err);

/* Takes an instance with times that are multiples of step_ns in place of the
 * frame's.  *reached_ns, how long the start takes, follows. */
mo_status mo_frame_round_times(mo_frame *f, int64_t step_ns,
                               int64_t *reached_ns, mo_error *err);
void mo_frame_free_rounded(mo_frame *f);

/* Heads and tails, and who may not run where because of them. */
mo_status mo_frame_find_windows(mo_frame *f, mo_error *err);

/* The frame's table of segments, for the devices that are allowed now. */
mo_status mo_frame_find_segments(mo_frame *f, mo_error *err);

/* Devices equal in everything. */
mo_status mo_frame_find_symmetric_devices(mo_frame *f, mo_error *err);

/* Renames equal devices in the start, so that in each class of them those with
 * smaller numbers are used first, by the number of their first op. */
mo_status mo_frame_relabel_start(mo_frame *f, mo_error *err);

#endif
