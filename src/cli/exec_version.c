/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/exec_version.h"

#include "exec/version.h"

void mo_cli_exec_version(mo_out *out)
{
    char text[MO_EXEC_VERSION_TEXT_SIZE];

    mo_out_printf(out, "Runs with: %s\n", mo_exec_version_text(text));
}
