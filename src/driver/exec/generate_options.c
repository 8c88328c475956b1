/* SPDX-License-Identifier: Apache-2.0 */
/* Options of generation: their consistency, and the prompt. */
#include <stdlib.h>
#include <string.h>

#include "driver/exec/generate.h"
#include "driver/exec/request_files.h"

static mo_status check_single(const mo_exec_options *o, mo_error *err)
{
    const struct {
        bool given;
        const char *name;
    } others[] = {
        { o->runs > 1, "--runs" },
        { o->check, "--check" },
        { o->reference != NULL, "--reference" },
        { o->outputs[MO_EXEC_OUTPUT_TRACE].path != NULL, "--trace" },
        { o->outputs[MO_EXEC_OUTPUT_PAGE].path != NULL, "--report-html" },
        { o->wants.eager, "--eager" },
        { o->bundle != NULL, "--bundle" },
        { o->output != NULL, "--output" },
        { o->inputs.count > 0, "--input" },
        { mo_exec_requests_wanted(o), "--requests" },
    };

    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (others[i].given)
            return mo_fail(err, MO_E_USAGE,
                           "%s has no meaning with --generate; leave it out",
                           others[i].name);
    return MO_OK;
}

mo_status mo_generate_check_sampling(const mo_exec_options *o, mo_error *err)
{
    if (o->temperature > 0 || (o->top_k == 0 && o->top_p >= 1))
        return MO_OK;
    return mo_fail(err, MO_E_USAGE,
                   "--top-k and --top-p need --temperature; without it the "
                   "most probable token is taken");
}

mo_status mo_generate_check_options(const mo_exec_options *o, mo_error *err)
{
    const struct {
        bool given;
        const char *name;
    } own[] = {
        { o->prompt != NULL, "--prompt" },
        { o->temperature > 0, "--temperature" },
        { o->top_k > 0, "--top-k" },
        { o->top_p < 1, "--top-p" },
        { o->stop.count > 0, "--stop" },
        { o->load_states != NULL, "--load-states" },
        { o->save_states != NULL, "--save-states" },
    };

    if ((o->load_states && !*o->load_states) ||
        (o->save_states && !*o->save_states))
        return mo_fail(err, MO_E_USAGE,
                       "--load-states and --save-states name a folder");
    if (o->generate > 0) {
        mo_status status = mo_generate_check_sampling(o, err);

        return status == MO_OK ? check_single(o, err) : status;
    }
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (own[i].given)
            return mo_fail(err, MO_E_USAGE,
                           "%s goes with --generate; give how many tokens",
                           own[i].name);
    return MO_OK;
}
