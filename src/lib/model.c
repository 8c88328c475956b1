/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "lib/model.h"

#include <string.h>

#include "models/write/lp_writer.h"
#include "models/write/mps_writer.h"

mo_status mo_lib_model_make(const moirai_instance *instance,
                            const moirai_options *options, mo_prepared *made,
                            mo_error *err)
{
    const mo_driver_log logger = mo_lib_log(options);
    const mo_regime *regime = &instance->regime;
    mo_prepare_options p = mo_lib_settings_of(options)->prepare;
    mo_status status;

    p.congestion = mo_congestion_names[regime->congestion];
    p.tensors = mo_tensors_names[regime->tensors];
    p.memory = mo_memory_names[regime->memory];
    p.objective = mo_objective_names[instance->objective];
    p.in_flight = instance->in_flight;
    mo_prepare_match_objective(&p);
    status = mo_prepare_check(&p, instance->graph->path, err);
    if (status != MO_OK)
        return status;
    *made = mo_lib_instance_review(instance).made;
    return mo_prepare_model(&p, &logger, made, err);
}

void mo_lib_model_clear(mo_prepared *made)
{
    made->fine = made->coarse = NULL;
    made->map = NULL;
    made->loaded = (mo_driver_loaded){ 0 };
    mo_prepared_clear(made);
}

mo_status mo_lib_model_write(const moirai_instance *instance,
                             const mo_prepared *made, bool mps, mo_out *out,
                             mo_error *err)
{
    mo_heading heading = { &made->model, instance->graph->path,
                           instance->cluster->cluster->file };
    mo_sink *sink = NULL;
    mo_status status = mps ? mo_mps_writer_new(out, &heading, 0, &sink, err)
                           : mo_lp_writer_new(out, &heading, &sink, err);

    if (status != MO_OK)
        return status;
    status = mo_model_write(&made->model, sink, err);
    mo_sink_free(sink);
    return status;
}

/* By the option, or by the name of the file without its compression. */
static mo_status choose_format(const moirai_options *options, const char *path,
                               bool *mps, mo_error *err)
{
    const char *format = mo_lib_settings_of(options)->format;
    size_t n = path ? strlen(path) : 0;

    if (format && strcmp(format, "lp") != 0 && strcmp(format, "mps") != 0)
        return mo_fail(err, MO_E_USAGE,
                       "a model is written as lp or mps, not as %s", format);
    if (n > 3 && strcmp(path + n - 3, ".gz") == 0)
        n -= 3;
    else if (n > 4 && strcmp(path + n - 4, ".zst") == 0)
        n -= 4;
    *mps = format ? strcmp(format, "mps") == 0
                  : n > 4 && strncmp(path + n - 4, ".mps", 4) == 0;
    return MO_OK;
}

moirai_status moirai_emit(const moirai_instance *instance,
                          const moirai_options *options, const char *path,
                          moirai_write_fn *write, void *context,
                          moirai_error *err)
{
    mo_error *e = mo_lib_error(err);
    mo_prepared made = { 0 };
    mo_out *out = NULL;
    bool mps = false;
    mo_status status = choose_format(options, path, &mps, e);

    if (status == MO_OK)
        status = mo_lib_open_output(path, write, context, &out, e);
    if (status == MO_OK)
        status = mo_lib_model_make(instance, options, &made, e);
    if (status == MO_OK)
        status = mo_lib_model_write(instance, &made, mps, out, e);
    status = mo_lib_close_output(out, status, e);
    mo_lib_model_clear(&made);
    return mo_lib_status(status);
}
