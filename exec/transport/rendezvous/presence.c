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

/* A name that is no file: it begins with a zero byte, which Linux has. */
static socklen_t name_of(const mo_rdv_launcher *launcher, int rank,
                         struct sockaddr_un *name)
{
    int length;

    memset(name, 0, sizeof *name);
    name->sun_family = AF_UNIX;
    length =
        snprintf(name->sun_path + 1, sizeof name->sun_path - 1,
                 "moirai-%ld-%.60s-%d", (long) getuid(), launcher->job, rank);
    return (socklen_t) (offsetof(struct sockaddr_un, sun_path) + 1 +
                        (size_t) length);
}

mo_rdv_presence *mo_rdv_presence_new(const mo_rdv_launcher *launcher)
{
#ifdef __linux__
    struct sockaddr_un name;
    mo_rdv_presence *roll;
    socklen_t length;

    if (!launcher->one_host || !launcher->job || launcher->rank < 0)
        return NULL;
    roll = calloc(1, sizeof *roll);
    if (!roll)
        return NULL;
    roll->launcher = *launcher;
    roll->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    length = name_of(launcher, launcher->rank, &name);
    if (roll->listener >= 0 &&
        bind(roll->listener, (struct sockaddr *) &name, length) == 0 &&
        listen(roll->listener, SOMAXCONN) == 0)
        return roll;
    mo_rdv_presence_free(roll);
#else
    (void) launcher;
#endif
    return NULL;
}

void mo_rdv_presence_free(mo_rdv_presence *roll)
{
    if (roll && roll->listener >= 0)
        close(roll->listener);
    free(roll);
}

static int is_there(const mo_rdv_launcher *launcher, int rank)
{
    struct sockaddr_un name;
    socklen_t length = name_of(launcher, rank, &name);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int there;

    if (fd < 0)
        return 1;
    there = connect(fd, (struct sockaddr *) &name, length) == 0;
    close(fd);
    return there;
}

int mo_rdv_presence_first_missing(const mo_rdv_presence *roll)
{
    if (!roll)
        return -1;
    for (int r = 0; r < roll->launcher.n_ranks; r++)
        if (!is_there(&roll->launcher, r))
            return r;
    return -1;
}
