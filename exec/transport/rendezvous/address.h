/* SPDX-License-Identifier: Apache-2.0 */
/*
 * address.h - TCP sockets by address: listening, calling, telling.
 *
 * An address is 16 bytes: IPv6, or IPv4 as IPv6 has it (::ffff:1.2.3.4).
 */
#ifndef MO_EXEC_TRANSPORT_RENDEZVOUS_ADDRESS_H
#define MO_EXEC_TRANSPORT_RENDEZVOUS_ADDRESS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

enum { MO_RDV_ADDRESS_BYTES = 16, MO_RDV_ADDRESS_TEXT = 64 };

extern const uint8_t mo_rdv_address_loopback[MO_RDV_ADDRESS_BYTES];

/* False for what is no such address, or means something on one link only. */
bool mo_rdv_address_from_sockaddr(const struct sockaddr *from,
                                  uint8_t to[MO_RDV_ADDRESS_BYTES]);

/* The address of a number or a name, such as "10.0.0.7", "::1" or "tau"; at
 * most n of them.  Returns how many; 0: there is none. */
int mo_rdv_address_resolve(const char *host,
                           uint8_t (*found)[MO_RDV_ADDRESS_BYTES], int n);

bool mo_rdv_address_is_loopback(const uint8_t address[MO_RDV_ADDRESS_BYTES]);

/* Is it "localhost", or such an address as a number?  Then this is where.  A
 * machine's own name may lead there, too, but means the machine as others see
 * it. */
bool mo_rdv_address_parse_loopback(const char *host,
                                   uint8_t address[MO_RDV_ADDRESS_BYTES]);

bool mo_rdv_address_equal(const uint8_t a[MO_RDV_ADDRESS_BYTES],
                          const uint8_t b[MO_RDV_ADDRESS_BYTES]);

/* Of the other end of a socket; "here" where it has none. */
const char *mo_rdv_address_format_peer(int socket,
                                       char text[MO_RDV_ADDRESS_TEXT]);

/* A socket that listens without blocking; address NULL: at all of them; port 0:
 * at any.  -1, and errno tells. */
int mo_rdv_socket_listen(const uint8_t *address, int port, int backlog);
int mo_rdv_socket_local_port(int listener);

/* A connected socket that does not block, or -1. */
int mo_rdv_socket_connect(const uint8_t address[MO_RDV_ADDRESS_BYTES], int port,
                          int64_t deadline_ns);

/* Returns whether these events of poll have come by then. */
bool mo_rdv_socket_poll(int socket, short events, int64_t deadline_ns);

/* Milliseconds until then, for poll: 0 when it is over. */
int mo_rdv_timeout_ms(int64_t deadline_ns, int64_t at_most_ns);

#endif
