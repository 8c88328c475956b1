/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profile_builder.h - builder of a profile: adds rows in any order.
 *
 * Errors between rows are detected at the end: duplicate rows, no rows at all.
 */
#ifndef MO_COST_PROFILE_PROFILE_BUILDER_H
#define MO_COST_PROFILE_PROFILE_BUILDER_H

#include "base/arena.h"
#include "base/error.h"
#include "cost/profile.h"

enum { MO_MAX_PROFILE_OPS = 10000000, MO_MAX_PROFILE_LINKS = 1 << 20 };

typedef struct mo_profile_builder mo_profile_builder;

/* The caller frees *builder with mo_profile_builder_free(), which accepts
 * NULL. */
mo_status mo_profile_builder_new(mo_profile_builder **builder, mo_error *err);
void mo_profile_builder_free(mo_profile_builder *builder);

/* Returns the arena for the texts of the profile; the profile will own it. */
mo_arena *mo_profile_builder_arena(mo_profile_builder *builder);

/* Both texts must be allocated in the arena. */
void mo_profile_builder_host(mo_profile_builder *builder, const char *host);
void mo_profile_builder_emulated(mo_profile_builder *builder,
                                 const char *emulated);
void mo_profile_builder_in_flight(mo_profile_builder *builder, int in_flight);

/* Overhead of a transfer; 0: none is known. */
void mo_profile_builder_overhead(mo_profile_builder *builder,
                                 double overhead_us, double copy_gbs);

/* Time of the host; 0: none is known. */
void mo_profile_builder_host_times(mo_profile_builder *builder,
                                   double request_us, double transfer_us);

/* Slowdown of parts of a GPU, or CPU devices, by each other, and the load of a
 * transfer between two; 0: none is known. */
void mo_profile_builder_parts(mo_profile_builder *builder, double slowdown,
                              double overhead_us);

/* Adds a copy of the row; its texts must be constant or allocated in the
 * arena. */
mo_status mo_profile_builder_op(mo_profile_builder *builder,
                                const mo_profile_op *op, mo_error *err);
mo_status mo_profile_builder_link(mo_profile_builder *builder,
                                  const mo_profile_link *link, mo_error *err);

mo_status mo_profile_builder_rate(mo_profile_builder *builder,
                                  const mo_profile_rate *rate, mo_error *err);

/* Checks, sorts and makes the profile, which the caller then owns; the builder
 * may only be freed afterwards. file is copied. */
mo_status mo_profile_builder_finish(mo_profile_builder *builder,
                                    const char *file, mo_profile **profile,
                                    mo_error *err);

#endif
