/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/exec_version.h"

#include "exec/backend/backend.h"

void mo_cli_exec_version(mo_out *out)
{
    char text[MO_BACKEND_VERSIONS_SIZE];

    mo_out_printf(out, "Runs with: %s\n", mo_backend_versions(text));
}
