// The parsing of packets, and the answers of a router to them: IPv4 (RFC 791, 792), IPv6 (RFC 8200, 4443) and TCP
// (RFC 9293).
#include "link.h"
#include <string.h>

enum { FIN = 1, SYN = 2, RST = 4, ACK = 16, IS_TCP = 6, IS_ICMP = 1, IS_ICMP6 = 58 };

static uint16_t get16(const unsigned char *at) { return at[0] << 8 | at[1]; }
static void put16(unsigned char *at, unsigned value) { at[0] = value >> 8, at[1] = value; }
static uint32_t get32(const unsigned char *at) { return (uint32_t)get16(at) << 16 | get16(at + 2); }
static void put32(unsigned char *at, uint32_t value) { put16(at, value >> 16), put16(at + 2, value & 0xFFFF); }

static uint32_t sum(const unsigned char *at, int length, uint32_t total) {
    for (; length > 1; at += 2, length -= 2) total += get16(at);
    return length ? total + (at[0] << 8) : total;
}

static uint16_t folded(uint32_t total) {
    while (total >> 16) total = (total & 0xFFFF) + (total >> 16);
    return ~total;
}

static int header_of(const unsigned char *bytes, int length) {
    if (length < 20) return 0;
    if (bytes[0] >> 4 == 4) return (bytes[0] & 15) * 4;
    return bytes[0] >> 4 == 6 && length >= 40 ? 40 : 0;
}

// Returns the same number for both directions of a connection.
static uint64_t flow_of(const unsigned char *bytes, int header) {
    int size = header == 40 ? 16 : 4, source = header == 40 ? 8 : 12;
    uint64_t ends[2];
    for (int end = 0; end < 2; end++) {
        uint64_t hash = 14695981039346656037ull;
        for (int i = 0; i < size; i++) hash = (hash ^ bytes[source + end * size + i]) * 1099511628211ull;
        for (int i = 0; i < 2; i++) hash = (hash ^ bytes[header + end * 2 + i]) * 1099511628211ull;
        ends[end] = hash;
    }
    return ends[0] ^ ends[1] ^ (ends[0] < ends[1] ? ends[0] : ends[1]) * 0x9E3779B97F4A7C15ull;
}

struct segment segment_of(const unsigned char *bytes, int length) {
    struct segment segment = {0};
    int header = header_of(bytes, length), protocol = header == 40 ? bytes[6] : header ? bytes[9] : 0;
    if (protocol != IS_TCP || length < header + 20) return segment;
    segment.tcp = true;
    segment.header = header;
    segment.flags = bytes[header + 13];
    segment.payload = length - header - (bytes[header + 12] >> 4) * 4;
    segment.flow = flow_of(bytes, header);
    return segment;
}

// Writes the header of a packet back to the sender, as if it came from the addressee.
static int header_back(const unsigned char *packet, int protocol, int payload, unsigned char *answer) {
    if (packet[0] >> 4 == 4) {
        memset(answer, 0, 20);
        answer[0] = 0x45, answer[8] = 64, answer[9] = protocol;
        put16(answer + 2, 20 + payload);
        memcpy(answer + 12, packet + 16, 4), memcpy(answer + 16, packet + 12, 4);
        put16(answer + 10, folded(sum(answer, 20, 0)));
        return 20;
    }
    memset(answer, 0, 40);
    answer[0] = 0x60, answer[6] = protocol, answer[7] = 64;
    put16(answer + 4, payload);
    memcpy(answer + 8, packet + 24, 16), memcpy(answer + 24, packet + 8, 16);
    return 40;
}

static uint32_t pseudo_header(const unsigned char *answer, int header, int protocol, int payload) {
    uint32_t total = header == 20 ? sum(answer + 12, 8, 0) : sum(answer + 8, 32, 0);
    return total + protocol + payload;
}

// Writes the ICMP error "host unreachable", or with an MTU "fragmentation needed" and "packet too big".
// Returns the length of the answer.
int refusal_of(const unsigned char *packet, int length, int mtu, unsigned char *answer) {
    int from = header_of(packet, length);
    bool six = from == 40;
    int protocol = !from ? 0 : six ? packet[6] : packet[9];
    // RFC 1122, 3.2.2: an error is no answer to an error.
    if (!from || protocol == IS_ICMP || protocol == IS_ICMP6) return 0;
    int quoted = six ? (length < 1200 ? length : 1200) : (length < from + 8 ? length : from + 8);
    int header = header_back(packet, six ? IS_ICMP6 : IS_ICMP, 8 + quoted, answer);
    unsigned char *message = answer + header;
    memset(message, 0, 8);
    message[0] = six ? (mtu ? 2 : 1) : 3;
    message[1] = six ? (mtu ? 0 : 3) : (mtu ? 4 : 1);
    if (mtu && six) put32(message + 4, mtu);
    else if (mtu) put16(message + 6, mtu);
    memcpy(message + 8, packet, quoted);
    put16(message + 2, folded(sum(message, 8 + quoted, six ? pseudo_header(answer, 40, IS_ICMP6, 8 + quoted) : 0)));
    return header + 8 + quoted;
}

// Writes the RST of RFC 9293, 3.5.2 for a segment of an unknown connection. Returns the length of the answer.
int reset_of(const unsigned char *packet, int length, unsigned char *answer) {
    struct segment segment = segment_of(packet, length);
    if (!segment.tcp || segment.flags & RST) return 0;
    const unsigned char *tcp = packet + segment.header;
    int header = header_back(packet, IS_TCP, 20, answer);
    unsigned char *back = answer + header;
    memset(back, 0, 20);
    memcpy(back, tcp + 2, 2), memcpy(back + 2, tcp, 2);
    uint32_t span = segment.payload + !!(segment.flags & SYN) + !!(segment.flags & FIN);
    if (segment.flags & ACK) memcpy(back + 4, tcp + 8, 4);
    else put32(back + 8, get32(tcp + 4) + span);
    back[12] = 5 << 4, back[13] = segment.flags & ACK ? RST : RST | ACK;
    put16(back + 16, folded(sum(back, 20, pseudo_header(answer, header, IS_TCP, 20))));
    return header + 20;
}
