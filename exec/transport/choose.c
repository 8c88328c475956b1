#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "exec/transport/launcher.h"
#include "exec/transport/transport.h"

#ifdef HAVE_MPI
#define MPI_TOO &mo_transport_mpi,
#else
#define MPI_TOO
#endif

const mo_transport *const mo_transports[] = { &mo_transport_local,
                                              MPI_TOO NULL };

static const char no_mpi[] = "this build cannot do it: install MPI "
                             "(libopenmpi-dev), then configure and make again";

static mo_status find(const char *name, const char *asked_by,
                      const mo_transport **transport, mo_error *err)
{
    for (int i = 0; mo_transports[i]; i++)
        if (strcmp(mo_transports[i]->name, name) == 0) {
            *transport = mo_transports[i];
            return MO_OK;
        }
    if (strcmp(name, "mpi") == 0)
        return mo_fail(err, MO_E_SUPPORT, "%s asks for MPI, but %s", asked_by,
                       no_mpi);
    return mo_fail(err, MO_E_USAGE,
                   "%s names a transport '%s' that does not exist; there are "
                   "local and mpi",
                   asked_by, name);
}

mo_status mo_transport_choose(const char *name, const mo_transport **transport,
                              mo_error *err)
{
    const char *wish = getenv("MOIRAI_TRANSPORT");
    mo_launcher launcher;

    if (name)
        return find(name, "--transport", transport, err);
    if (wish && *wish)
        return find(wish, "MOIRAI_TRANSPORT", transport, err);
    if (mo_launcher_find(&launcher) && launcher.n_ranks != 1)
        return find("mpi", launcher.name, transport, err);
    *transport = &mo_transport_local;
    return MO_OK;
}
