/* SPDX-License-Identifier: Apache-2.0 */
/*
 * frame_internal.h - the steps of presolve that compute a frame, in order. Each
 * fills its part of a frame that has all its arrays and relies on those before
 * it.
 */
#ifndef MO_MODELS_FRAME_FRAME_INTERNAL_H
#define MO_MODELS_FRAME_FRAME_INTERNAL_H

#include "models/frame/frame.h"
#include "schedule/allowed_devices.h"

/* A view of the devices allowed so far. */
static inline mo_allowed_devices mo_frame_allowed_devices(const mo_frame *f)
{
    return (mo_allowed_devices){ f->x, f->regime, f->allowed };
}

/* Heads and tails, and the devices that they exclude. */
mo_status mo_frame_find_windows(mo_frame *f, mo_error *err);

/* Interchangeable devices. */
mo_status mo_frame_find_symmetric_devices(mo_frame *f, mo_error *err);

/* Renames interchangeable devices in the start, so that in each class those
 * with smaller numbers are used first, by the number of their first op. */
mo_status mo_frame_relabel_start(mo_frame *f, mo_error *err);

#endif
