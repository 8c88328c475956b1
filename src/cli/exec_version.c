#include "cli/exec_version.h"

#include "exec/backend/backend.h"

void mo_exec_version(mo_out *out)
{
    char text[MO_BACKENDS_TEXT_SIZE];

    mo_out_printf(out, "Runs with: %s\n", mo_backends_say(text));
}
