/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "exec/transport/rendezvous/presence.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

struct mo_rdv_presence {
    mo_rdv_launcher launcher;
    int listener;
};

/* An abstract socket name (Linux): it starts with a zero byte and is no
 * file. */
static socklen_t abstract_name(const mo_rdv_launcher *launcher, int rank,
                               struct sockaddr_un *name)
{
    int length;

    memset(name, 0, sizeof *name);
    name->sun_family = AF_UNIX;
    length = snprintf(name->sun_path + 1, sizeof name->sun_path - 1,
                      "moirai-%ld-%.60s-%d", (long) getuid(),
                      launcher->job_name, rank);
    return (socklen_t) (offsetof(struct sockaddr_un, sun_path) + 1 +
                        (size_t) length);
}

mo_rdv_presence *mo_rdv_presence_new(const mo_rdv_launcher *launcher)
{
#ifdef __linux__
    struct sockaddr_un name;
    mo_rdv_presence *presence;
    socklen_t length;

    if (!launcher->one_host || !launcher->job_name || launcher->rank < 0)
        return NULL;
    presence = calloc(1, sizeof *presence);
    if (!presence)
        return NULL;
    presence->launcher = *launcher;
    presence->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    length = abstract_name(launcher, launcher->rank, &name);
    if (presence->listener >= 0 &&
        bind(presence->listener, (struct sockaddr *) &name, length) == 0 &&
        listen(presence->listener, SOMAXCONN) == 0)
        return presence;
    mo_rdv_presence_free(presence);
#else
    (void) launcher;
#endif
    return NULL;
}

void mo_rdv_presence_free(mo_rdv_presence *presence)
{
    if (presence && presence->listener >= 0)
        close(presence->listener);
    free(presence);
}

static int is_present(const mo_rdv_launcher *launcher, int rank)
{
    struct sockaddr_un name;
    socklen_t length = abstract_name(launcher, rank, &name);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int is_present_now;

    if (fd < 0)
        return 1;
    is_present_now = connect(fd, (struct sockaddr *) &name, length) == 0;
    close(fd);
    return is_present_now;
}

int mo_rdv_presence_next_missing(const mo_rdv_presence *presence, int rank)
{
    if (!presence)
        return -1;
    for (int r = rank; r < presence->launcher.n_ranks; r++)
        if (!is_present(&presence->launcher, r))
            return r;
    return -1;
}
