/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bootstrap of a communicator of the stand-in: each rank listens at an
 * abstract socket named by the unique id and its rank, and connects to the
 * lower ranks.
 */
#include <config.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "tests/standin/nccl/standin_nccl.h"

void standin_link_name(ncclUniqueId *id)
{
    uint64_t numbers[2] = { 0, 0 };

    if (getrandom(numbers, sizeof numbers, 0) < 0)
        numbers[0] = (uint64_t) getpid();
    memset(id, 0, sizeof *id);
    snprintf(id->internal, sizeof id->internal, "standin-nccl-%016llx%016llx",
             (unsigned long long) numbers[0], (unsigned long long) numbers[1]);
}

/* An abstract socket name: it vanishes with the process. */
static socklen_t abstract_address(const char *name, int rank,
                                  struct sockaddr_un *at)
{
    int n;

    *at = (struct sockaddr_un){ .sun_family = AF_UNIX };
    n = snprintf(at->sun_path + 1, sizeof at->sun_path - 1, "%s-%d", name,
                 rank);
    return (socklen_t) (offsetof(struct sockaddr_un, sun_path) + 1 +
                        (size_t) n);
}

static int new_socket(void)
{
    return socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
}

bool standin_link_listen(ncclComm_t comm)
{
    struct sockaddr_un at;
    socklen_t size = abstract_address(comm->name, comm->rank, &at);

    comm->listener = new_socket();
    return comm->listener >= 0 &&
           bind(comm->listener, (struct sockaddr *) &at, size) == 0 &&
           listen(comm->listener, comm->n_ranks) == 0;
}

long standin_link_send(int socket, const void *data, size_t bytes)
{
    ssize_t n = send(socket, data, bytes, MSG_NOSIGNAL | MSG_DONTWAIT);

    if (n >= 0)
        return (long) n;
    return errno == EAGAIN || errno == EINTR ? 0 : -1;
}

long standin_link_receive(int socket, void *data, size_t bytes)
{
    ssize_t n = bytes > 0 ? recv(socket, data, bytes, MSG_DONTWAIT) : 0;

    if (n > 0 || bytes == 0)
        return (long) n;
    return n < 0 && (errno == EAGAIN || errno == EINTR) ? 0 : -1;
}

static void connect_rank(ncclComm_t comm, int rank)
{
    const standin_message hello = { STANDIN_HELLO, (uint64_t) comm->rank };
    struct sockaddr_un at;
    socklen_t size = abstract_address(comm->name, rank, &at);
    int fd = new_socket();

    if (fd < 0)
        return;
    if (connect(fd, (struct sockaddr *) &at, size) == 0 &&
        standin_link_send(fd, &hello, sizeof hello) == (long) sizeof hello) {
        comm->links[rank].socket = fd;
        comm->links[rank].greeted = true;
    } else
        close(fd);
}

/* The hello is one small packet: it arrives with the connection. */
static void accept_ranks(ncclComm_t comm)
{
    standin_message hello;
    int fd = accept4(comm->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    ssize_t n;

    if (fd < 0)
        return;
    do
        n = recv(fd, &hello, sizeof hello, MSG_DONTWAIT);
    while (n < 0 && (errno == EAGAIN || errno == EINTR));
    if (n == (ssize_t) sizeof hello && hello.word == STANDIN_HELLO &&
        hello.what < (uint64_t) comm->n_ranks &&
        comm->links[hello.what].socket < 0) {
        comm->links[hello.what].socket = fd;
        comm->links[hello.what].greeted = true;
    } else
        close(fd);
}

bool standin_link_join(ncclComm_t comm)
{
    bool all = true;

    accept_ranks(comm);
    for (int s = 0; s < comm->n_ranks; s++) {
        if (s < comm->rank && comm->links[s].socket < 0)
            connect_rank(comm, s);
        all &= s == comm->rank || comm->links[s].greeted;
    }
    return all;
}

void standin_link_close(ncclComm_t comm)
{
    if (comm->listener >= 0)
        close(comm->listener);
    comm->listener = -1;
    for (int s = 0; s < comm->n_ranks; s++) {
        if (comm->links[s].socket >= 0)
            close(comm->links[s].socket);
        comm->links[s].socket = -1;
    }
}
