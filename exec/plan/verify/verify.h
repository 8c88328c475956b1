/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verify.h - whether a plan can be run to its end, and means what it says.
 *
 * Replays the steps of all devices with rendezvous semantics: no send is done
 * before its receive has begun, nothing is buffered.  Trusts nobody: a plan may
 * come from a file or from a broken pass.
 */
#ifndef MO_EXEC_PLAN_VERIFY_VERIFY_H
#define MO_EXEC_PLAN_VERIFY_VERIFY_H

#include "base/error.h"
#include "exec/plan/ir/plan.h"

/*
 * Errors (MO_E_INPUT) name the step: numbers out of range; a value read before
 * it is written or before its transfer was awaited, or on another device; a
 * value written twice; memory of a living value overwritten, by a call or by a
 * transfer, or by a call that may run beside one that needs it; a call that may
 * run before what it reads is there; a transfer begun twice, awaited before it
 * began, whose ends differ in bytes or type, or that nobody awaits; an output
 * nobody makes; steps that wait for each other: the cycle is named ("A waits at
 * step 3 for 'x' from B, B waits at step 5 for 'y' from A").
 */
mo_status mo_verify_plan(const mo_exec_plan *plan, mo_error *err);

#endif
