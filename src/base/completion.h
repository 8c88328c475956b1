/* SPDX-License-Identifier: Apache-2.0 */
/*
 * completion.h - shell completion scripts, printed by --completion, from a
 * command's option table.
 */
#ifndef MO_BASE_COMPLETION_H
#define MO_BASE_COMPLETION_H

#include "base/option.h"
#include "base/out.h"

/* The supported shells, in the form of an option's choices. */
#define MO_COMPLETION_SHELLS "bash|zsh|fish"

/* Writes the script for shell, one of the above, to out. */
void mo_completion_write(const mo_command *command, const char *shell,
                         mo_out *out);

#endif
