// A network link between two namespaces, emulated in user space: the interfaces between its parts.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { UP, DOWN, DIRECTIONS };              // UP: from the client's namespace to the server's.
enum { LARGEST_PACKET = 9216, FLOWS = 1 << 16 };

// PASSING: packets travel. HOLE: they are lost without an answer. UNREACHABLE: the sender gets ICMP "host unreachable".
enum state { PASSING, HOLE, UNREACHABLE };

struct packet {
    int64_t at;                             // When the packet arrived; later: when it is to be delivered.
    uint64_t number;
    int length;
    unsigned char bytes[];
};

struct figures {
    double delay, jitter, gap;              // Milliseconds
    double loss, burst;                     // Per cent, and the mean number of packets that are lost in a row.
    double reorder;                         // Per cent of packets that are held back by `gap`.
    double rate;                            // Mbit/s, 0: without a bound
    double queue;                           // kB that wait in front of the link
    double mtu;                             // Larger packets are dropped, with `icmp` the sender hears of it.
    double icmp;
    enum state state;
};

struct counts {
    uint64_t packets, bytes, payload;       // Packets that entered, without those that were dropped.
    uint64_t lost, overflowed, vanished, oversized, forgotten, reordered;
    uint64_t syn, data;                     // Segments of TCP with SYN, and with a payload
    int64_t changed, first;                 // When the state changed, and when the first packet passed after that.
};

// A change that waits for an event of a direction.
struct trigger {
    int direction;
    char event[8];                          // bytes, data, syn or packets
    uint64_t count;
    char change[240];
};

struct path {
    struct figures figures;
    struct counts counts;
    struct packet **waiting;                // In front of the link: a ring
    unsigned head, tail, room;
    double queued;                          // Bytes
    int64_t free_at;                        // When the packet that is being sent has left.
    struct packet **flying;                 // On the link: a heap by time of delivery
    unsigned flights, flight_room;
    int64_t last_delivery;
    uint64_t number, random;
    bool losing;                            // State of the Gilbert-Elliott model
};

struct link {
    int device[DIRECTIONS];                 // device[UP] is the client's: packets that travel up are read from it.
    struct path path[DIRECTIONS];
    double idle;                            // Seconds after which the NAT forgets a connection; 0: never
    bool resets;                            // The NAT answers packets of forgotten connections by RST.
    struct trigger triggers[16];
    int trigger_count;
};

int64_t now(void);

// path.c
void path_start(struct path *path, uint64_t seed);
bool path_take(struct path *path, const unsigned char *bytes, int length, int64_t time);
int64_t path_run(struct path *path, int device, int64_t time);

// packet.c
struct segment { bool tcp; int header, payload; unsigned char flags; uint64_t flow; };
struct segment segment_of(const unsigned char *bytes, int length);
int refusal_of(const unsigned char *packet, int length, int mtu, unsigned char *answer);
int reset_of(const unsigned char *packet, int length, unsigned char *answer);

// flows.c
bool flow_is_known(struct segment segment, int direction, double idle, int64_t time);
void flows_forget(void);

// control.c
const char *change(struct link *link, const char *words, int64_t time);
void command(struct link *link, char *line, char *reply, size_t room);
void fire_triggers(struct link *link, int direction);
