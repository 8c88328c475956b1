#include <config.h>

#include "cli/load.h"

#include <stdio.h>
#include <stdlib.h>

static void tell(const mo_talk *talk, const char *what)
{
    if (!talk->quiet)
        fprintf(stderr, "%s: %s\n", talk->command, what);
}

static void tell_missing(void *context, const char *what)
{
    tell(context, what);
}

mo_status mo_load_instance(const mo_load *load, const char *path,
                           const mo_graph *g, const mo_talk *talk,
                           mo_loaded *loaded, mo_error *err)
{
    mo_talk listener = *talk;
    mo_instance_options options = { .missing = tell_missing,
                                    .context = &listener };
    mo_status status = mo_cluster_choose(load->cluster, path, &loaded->cluster,
                                         &loaded->cluster_name, err);

    /* What the user did not ask for is said. */
    if (status == MO_OK && !load->cluster)
        tell(talk, loaded->cluster_name);
    if (status == MO_OK && load->profile)
        status = mo_profile_read(load->profile, &loaded->profile, err);
    options.profile = loaded->profile;
    if (status == MO_OK && load->cost)
        status = mo_predictor_parse(load->cost, loaded->cluster,
                                    loaded->profile, &options.predictor, err);
    if (status == MO_OK)
        status = mo_instance_make(g, loaded->cluster, &options,
                                  &loaded->instance, err);
    return status;
}

void mo_loaded_clear(mo_loaded *loaded)
{
    mo_instance_free(loaded->instance);
    mo_profile_free(loaded->profile);
    mo_cluster_free(loaded->cluster);
    free(loaded->cluster_name);
}
