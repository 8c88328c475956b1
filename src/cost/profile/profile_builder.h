/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profile_build.h - a profile, put together row by row.
 *
 * Rows come in any order.  What is wrong between rows is found at the end: the
 * same thing measured twice, nothing measured at all.
 */
#ifndef MO_COST_PROFILE_PROFILE_BUILDER_H
#define MO_COST_PROFILE_PROFILE_BUILDER_H

#include "base/arena.h"
#include "base/error.h"
#include "cost/profile.h"

enum { MO_MAX_PROFILE_OPS = 10000000, MO_MAX_PROFILE_LINKS = 1 << 20 };

typedef struct mo_profile_builder mo_profile_builder;

mo_status mo_profile_builder_new(mo_profile_builder **builder, mo_error *err);
void mo_profile_builder_free(mo_profile_builder *builder);

/* Where texts of the profile belong; it becomes the profile's own. */
mo_arena *mo_profile_builder_arena(mo_profile_builder *builder);

/* Both must lie in the arena. */
void mo_profile_builder_host(mo_profile_builder *builder, const char *host);
void mo_profile_builder_emulated(mo_profile_builder *builder,
                                 const char *emulated);

/* Copies the row; its texts must lie in the arena or be constant. */
mo_status mo_profile_builder_op(mo_profile_builder *builder,
                                const mo_profile_op *op, mo_error *err);
mo_status mo_profile_builder_link(mo_profile_builder *builder,
                                  const mo_profile_link *link, mo_error *err);

/* Checks, sorts and hands over the profile; the builder is left to be freed.
 * file is copied. */
mo_status mo_profile_builder_finish(mo_profile_builder *builder,
                                    const char *file, mo_profile **profile,
                                    mo_error *err);

#endif
