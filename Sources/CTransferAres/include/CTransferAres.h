// c-ares, as far as it's used here. Not its own headers: they bring half the C library along, which Swift has in a
// module of its own, and files that import that one alone would no longer see it.
#pragma once

struct transfer_ares;

// Makes a socket; -1 with errno for none.
typedef int (*transfer_ares_open)(int family, int type, int protocol, void *user);
// The end of a look-up: a status, and the addresses as text.
typedef void (*transfer_ares_finish)(void *user, int status, const char *const *addresses, int count);

// A channel that reads no configuration but what it is given. The file of hosts comes before the name servers, which
// are a list of addresses with ports, divided by commas.
int transfer_ares_create(
    struct transfer_ares **channel, int searches, int usesTCP, int rotates, int milliseconds, int tries, char **domains,
    int count, const char *servers, transfer_ares_open open, void *user);
// Closes its sockets; a look-up that is under way ends once more.
void transfer_ares_destroy(struct transfer_ares *channel);
// Of every family.
void transfer_ares_look_up(struct transfer_ares *channel, const char *name, transfer_ares_finish finish, void *user);
void transfer_ares_cancel(struct transfer_ares *channel);

// Bit N: socket N is read from; bit 16 + N: it's written to.
unsigned transfer_ares_sockets(struct transfer_ares *channel, int *sockets);
// Milliseconds until the channel wants to be looked at, at most `most`.
int transfer_ares_wait(struct transfer_ares *channel, int most);
// -1 for none.
void transfer_ares_process(struct transfer_ares *channel, int reading, int writing);
const char *transfer_ares_words(int status);

enum {
    TRANSFER_ARES_SOCKETS = 16,
    TRANSFER_ARES_SUCCESS = 0,
    TRANSFER_ARES_ENODATA = 1,
    TRANSFER_ARES_ENOTFOUND = 4,
    TRANSFER_ARES_EBADNAME = 8,
    TRANSFER_ARES_ECONNREFUSED = 11,
    TRANSFER_ARES_ETIMEOUT = 12,
    TRANSFER_ARES_EDESTRUCTION = 16,
    TRANSFER_ARES_ENOTINITIALIZED = 21,
    TRANSFER_ARES_ECANCELLED = 24,
};

// Of socket(2), whose names Swift finds in the module that it met first, whichever that is.
extern const int transfer_socket_datagram;
extern const int transfer_socket_cloexec;
extern const int transfer_socket_nonblock;

// The four bytes of an IPv4 address in any of its spellings (inet(3)), in the network's order; 0 for anything else.
int transfer_read_address(const char *text, unsigned char bytes[4]);
