/* SPDX-License-Identifier: Apache-2.0 */
/*
 * completion.h - what --completion prints: a script that teaches a shell the
 * options of a command.
 */
#ifndef MO_BASE_COMPLETION_H
#define MO_BASE_COMPLETION_H

#include "base/option.h"
#include "base/out.h"

/* The shells there are, in the form of an option's choices. */
#define MO_COMPLETION_SHELLS "bash|zsh|fish"

/* shell is one of these. */
void mo_completion_write(const mo_command *command, const char *shell,
                         mo_out *out);

#endif
