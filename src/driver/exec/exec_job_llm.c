/* SPDX-License-Identifier: Apache-2.0 */
/* Jobs that run a language model from its file: its lengths, its graphs and
 * where its weights may be. */
#include <config.h>

#include "driver/exec/exec_job.h"

#include <inttypes.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/minmax.h"
#include "exec/tensor/npy.h"
#include "graph/graph.h"
#include "ingest/read.h"

/* Without a file the prompt is a short one. */
mo_status mo_exec_job_take_lengths(const mo_exec_options *o,
                                   mo_prepare_options *prepare,
                                   mo_exec_job *job, mo_error *err)
{
    mo_tensor_desc prompt = { .shape = { 2, { 1, 16 } } };
    mo_status status =
        o->prompt ? mo_npy_read_desc(o->prompt, &prompt, err) : MO_OK;

    if (status != MO_OK)
        return status;
    snprintf(job->lengths, sizeof job->lengths,
             "prompt=%" PRId64 ",generate=%" PRId64,
             prompt.shape.rank == 2 ? mo_max_i64(prompt.shape.dims[1], 1) : 1,
             o->generate);
    job->lengths_item = job->lengths;
    prepare->read.values =
        (mo_option_list){ .items = &job->lengths_item, .count = 1 };
    return MO_OK;
}

static mo_status fail_format(const mo_read_format *format, bool alone,
                             mo_error *err)
{
    if (format->read_phases && alone)
        return mo_fail(err, MO_E_SUPPORT,
                       "is a GGUF file, which runs as prompt and answer only: "
                       "give --generate TOKENS");
    if (format->read_phases)
        return mo_fail(err, MO_E_SUPPORT,
                       "is a GGUF file, which runs as prompt and answer only: "
                       "place it with --prompt and --generate, and run it with "
                       "--generate");
    return mo_fail(err, MO_E_SUPPORT,
                   "is a folder of transformers, which can be placed but not "
                   "run; run it with vLLM by the settings that moirai --for "
                   "vllm prints, or export the model from PyTorch with "
                   "moirai-export");
}

/* Files with the same tensors, as a model and what it was tuned to, have one
 * digest: the one of another name may have other weights. */
static mo_status check_name(const mo_exec_options *o, const mo_exec_job *job,
                            mo_error *err)
{
    const char *name = job->review.origin.graph_name;
    const char *found = mo_path_basename(job->review.located.graph);

    if (job->alone || o->graph || name[0] == '\0' ||
        strcmp(mo_path_basename(name), found) == 0)
        return MO_OK;
    return mo_fail(err, MO_E_INPUT,
                   "has the tensors of %.200s, which was placed and is not "
                   "there, but may have other weights; name it with --graph "
                   "to run it",
                   name);
}

mo_status mo_exec_job_read_phases(const mo_exec_options *o, mo_exec_job *job,
                                  mo_error *err)
{
    const char *path = job->review.located.graph;
    mo_locate_query given = { .read = o->prepare.read };
    mo_provenance_texts texts;
    mo_read_options read;
    const mo_read_format *format = NULL;
    mo_input *input;
    struct stat about;
    mo_status status = MO_OK;

    if (job->bundle || stat(path, &about) != 0 ||
        !(S_ISREG(about.st_mode) || S_ISDIR(about.st_mode)) ||
        mo_input_open(path, &input, NULL) != MO_OK)
        return MO_OK;
    if (mo_read_find_format(input, &format, NULL) != MO_OK)
        format = NULL;
    if (job->lengths_item)
        given.read.values =
            (mo_option_list){ .items = &job->lengths_item, .count = 1 };
    read = mo_locate_read_options(&given, &job->review.origin, &texts);
    if (format && format->summarize) {
        mo_input_accept_binary(input);
        status = format->read_phases && job->review.problem.fine->phases &&
                         o->generate > 0
                     ? check_name(o, job, err)
                     : fail_format(format, job->alone, err);
        if (status == MO_OK)
            status = format->read_phases(input, &read, job->phases, err);
    }
    mo_input_close(input);
    return status;
}

mo_status mo_exec_job_allow_target(mo_exec_job *job,
                                   mo_weights_options *weights, mo_error *err)
{
    size_t n = weights->n_allowed;

    job->target = realpath(job->review.located.graph, NULL);
    job->allowed = calloc(n + 1, sizeof *job->allowed);
    if (!job->target || !job->allowed)
        return mo_fail_memory(err);
    if (n > 0)
        memcpy(job->allowed, weights->allowed, n * sizeof *job->allowed);
    job->allowed[n] = dirname(job->target);
    weights->allowed = job->allowed;
    weights->n_allowed = n + 1;
    return MO_OK;
}
