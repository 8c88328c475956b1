/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verify.h - plan verifier: checks that a plan runs to its end without
 * deadlock, data race or overlap in memory, independently of the passes that
 * built it.
 *
 * Replays the steps of all devices with rendezvous semantics: no send
 * completes before its receive is posted, nothing is buffered. Assumes
 * nothing: a plan may come from a file or from a broken pass. Only liveness
 * analysis (exec/plan/schedule/liveness.h) and the geometry of channels
 * (exec/plan/passes/nhwc_strides.h) are shared with the passes.
 */
#ifndef MO_EXEC_PLAN_VERIFY_VERIFY_H
#define MO_EXEC_PLAN_VERIFY_VERIFY_H

#include "base/error.h"
#include "exec/plan/ir/plan.h"

/*
 * Returns MO_OK or MO_E_INPUT; changes nothing and may be called from any
 * thread. Errors name the step: numbers out of range; a value read before it
 * is written or before its transfer was awaited, or on another device; a value
 * written twice; memory of a live value overwritten, by a call or by a
 * transfer, or by a call that may run concurrently with a reader; a call that
 * may run before its operands are complete; a transfer posted twice, awaited
 * before it was posted, with ends of different bytes or type, or that is never
 * awaited; an output that no call produces; a deadlock: the cycle is named ("A
 * waits at step 3 for 'x' from B, B waits at step 5 for 'y' from A").
 */
mo_status mo_verify_plan(const mo_exec_plan *plan, mo_error *err);

#endif
