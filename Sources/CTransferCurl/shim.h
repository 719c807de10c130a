// Typed inline functions over libcurl's variadic ones, so that Swift can call them.
#pragma once
#if !__has_include(<curl/curl.h>)
#error "libcurl is missing: apt-get install libcurl4-openssl-dev"
#endif
#include <string.h>
#include <curl/curl.h>
#include <malloc.h>
#include <stdint.h>

typedef size_t (*transfer_write_callback)(char *, size_t, size_t, void *);
typedef size_t (*transfer_read_callback)(char *, size_t, size_t, void *);
typedef int (*transfer_seek_callback)(void *, curl_off_t, int);
typedef int (*transfer_prerequest_callback)(void *, char *, char *, int, int);
typedef int (*transfer_debug_callback)(CURL *, curl_infotype, char *, size_t, void *);
typedef curl_socket_t (*transfer_opensocket_callback)(void *, curlsocktype, struct curl_sockaddr *);
typedef int (*transfer_sockopt_callback)(void *, curl_socket_t, curlsocktype);
typedef int (*transfer_xferinfo_callback)(void *, curl_off_t, curl_off_t, curl_off_t, curl_off_t);

static inline CURLcode transfer_easy_set_long(CURL *easy, CURLoption option, long value) {
    return curl_easy_setopt(easy, option, value);
}
static inline CURLcode transfer_easy_set_offset(CURL *easy, CURLoption option, int64_t value) {
    return curl_easy_setopt(easy, option, (curl_off_t)value);
}
static inline CURLcode transfer_easy_set_string(CURL *easy, CURLoption option, const char *value) {
    return curl_easy_setopt(easy, option, value);
}
static inline CURLcode transfer_easy_set_pointer(CURL *easy, CURLoption option, void *value) {
    return curl_easy_setopt(easy, option, value);
}
static inline CURLcode transfer_easy_set_list(CURL *easy, CURLoption option, struct curl_slist *value) {
    return curl_easy_setopt(easy, option, value);
}
static inline CURLcode transfer_easy_set_write(CURL *easy, CURLoption option, transfer_write_callback callback) {
    return curl_easy_setopt(easy, option, callback);
}
static inline CURLcode transfer_easy_set_read(CURL *easy, transfer_read_callback callback) {
    return curl_easy_setopt(easy, CURLOPT_READFUNCTION, callback);
}
static inline CURLcode transfer_easy_set_seek(CURL *easy, transfer_seek_callback callback) {
    return curl_easy_setopt(easy, CURLOPT_SEEKFUNCTION, callback);
}
static inline CURLcode transfer_easy_set_prerequest(CURL *easy, transfer_prerequest_callback callback) {
    return curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, callback);
}
typedef CURLcode (*transfer_context_callback)(CURL *, void *, void *);

// Of the connection's SSL_CTX; refused by a libcurl without OpenSSL.
static inline CURLcode transfer_easy_set_context(CURL *easy, transfer_context_callback callback) {
    return curl_easy_setopt(easy, CURLOPT_SSL_CTX_FUNCTION, callback);
}
static inline CURLcode transfer_easy_get_long(CURL *easy, CURLINFO info, long *value) {
    return curl_easy_getinfo(easy, info, value);
}
static inline CURLcode transfer_easy_get_offset(CURL *easy, CURLINFO info, int64_t *value) {
    curl_off_t offset = 0;
    CURLcode code = curl_easy_getinfo(easy, info, &offset);
    *value = offset;
    return code;
}
static inline CURLcode transfer_easy_get_string(CURL *easy, CURLINFO info, const char **value) {
    char *text = NULL;
    CURLcode code = curl_easy_getinfo(easy, info, &text);
    *value = text;
    return code;
}
static inline CURLcode transfer_easy_get_pointer(CURL *easy, CURLINFO info, void **value) {
    char *pointer = NULL;
    CURLcode code = curl_easy_getinfo(easy, info, &pointer);
    *value = pointer;
    return code;
}
// Of the connection that a transfer has made or used; CURL_SOCKET_BAD without one.
static inline curl_socket_t transfer_easy_get_socket(CURL *easy) {
    curl_socket_t socket = CURL_SOCKET_BAD;
    return curl_easy_getinfo(easy, CURLINFO_ACTIVESOCKET, &socket) == CURLE_OK ? socket : CURL_SOCKET_BAD;
}

// The SSL * of the connection that a transfer uses; NULL without one, and where libcurl has another TLS library.
static inline void *transfer_easy_get_tls(CURL *easy) {
    struct curl_tlssessioninfo *info = NULL;
    if (curl_easy_getinfo(easy, CURLINFO_TLS_SSL_PTR, &info) != CURLE_OK || !info) return NULL;
    return info->backend == CURLSSLBACKEND_OPENSSL ? info->internals : NULL;
}

static inline CURLcode transfer_easy_set_opensocket(CURL *easy, transfer_opensocket_callback callback) {
    return curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, callback);
}
// Asked about every socket before it's connected, also one of CURLOPT_OPENSOCKETFUNCTION.
static inline CURLcode transfer_easy_set_sockopt(CURL *easy, transfer_sockopt_callback callback) {
    return curl_easy_setopt(easy, CURLOPT_SOCKOPTFUNCTION, callback);
}
typedef int (*transfer_resolver_start_callback)(void *, void *, void *);

// Before libcurl looks a host up by itself; anything but 0 keeps it from that.
static inline CURLcode transfer_easy_set_resolver_start(CURL *easy, transfer_resolver_start_callback callback) {
    return curl_easy_setopt(easy, CURLOPT_RESOLVER_START_FUNCTION, callback);
}

typedef int (*transfer_socket_callback)(CURL *, curl_socket_t, int, void *, void *);
typedef int (*transfer_timer_callback)(CURLM *, long, void *);

static inline CURLMcode transfer_multi_set_socket(CURLM *multi, transfer_socket_callback callback, void *user) {
    CURLMcode code = curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, callback);
    return code ? code : curl_multi_setopt(multi, CURLMOPT_SOCKETDATA, user);
}
static inline CURLMcode transfer_multi_set_timer(CURLM *multi, transfer_timer_callback callback, void *user) {
    CURLMcode code = curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, callback);
    return code ? code : curl_multi_setopt(multi, CURLMOPT_TIMERDATA, user);
}
static inline CURLMcode transfer_multi_set_long(CURLM *multi, CURLMoption option, long value) {
    return curl_multi_setopt(multi, option, value);
}

// A finished transfer's message, without the union that Swift can't see into.
static inline CURL *transfer_multi_next_done(CURLM *multi, CURLcode *result) {
    int left = 0;
    CURLMsg *message;
    while ((message = curl_multi_info_read(multi, &left))) {
        if (message->msg == CURLMSG_DONE) {
            *result = message->data.result;
            return message->easy_handle;
        }
    }
    return NULL;
}

// Allowed schemes: a string from 7.85 on, a bit mask before.
static inline CURLcode transfer_easy_set_http_only(CURL *easy) {
#if LIBCURL_VERSION_NUM >= 0x075500
    return curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
#else
    return curl_easy_setopt(easy, CURLOPT_PROTOCOLS, (long)(CURLPROTO_HTTP | CURLPROTO_HTTPS));
#endif
}

static inline CURLcode transfer_easy_set_files_only(CURL *easy) {
#if LIBCURL_VERSION_NUM >= 0x075500
    return curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "ftp,ftps,sftp");
#else
    return curl_easy_setopt(easy, CURLOPT_PROTOCOLS, (long)(CURLPROTO_FTP | CURLPROTO_FTPS | CURLPROTO_SFTP));
#endif
}

typedef int (*transfer_closesocket_callback)(void *, curl_socket_t);
typedef int (*transfer_hostkey_callback)(
    CURL *, const struct curl_khkey *, const struct curl_khkey *, enum curl_khmatch, void *);

static inline CURLcode transfer_easy_set_closesocket(CURL *easy, transfer_closesocket_callback callback) {
    return curl_easy_setopt(easy, CURLOPT_CLOSESOCKETFUNCTION, callback);
}
static inline CURLcode transfer_easy_set_progress(CURL *easy, transfer_xferinfo_callback callback) {
    return curl_easy_setopt(easy, CURLOPT_XFERINFOFUNCTION, callback);
}
static inline CURLcode transfer_easy_set_debug(CURL *easy, transfer_debug_callback callback) {
    return curl_easy_setopt(easy, CURLOPT_DEBUGFUNCTION, callback);
}
// Asked about the key of an SSH server, once there is a file of known ones.
static inline CURLcode transfer_easy_set_hostkey(CURL *easy, transfer_hostkey_callback callback) {
    return curl_easy_setopt(easy, CURLOPT_SSH_KEYFUNCTION, callback);
}

// The beginning of the kernel's struct tcp_info (linux/tcp.h), which the one of netinet/tcp.h is shorter than.
struct transfer_tcp_info {
    uint8_t states[8];
    uint32_t numbers[24];
    uint64_t pacing_rate, max_pacing_rate, bytes_acked, bytes_received;
};

// Bytes that the peer has acknowledged, with the connection's own; -1 where the kernel doesn't say (before 4.1, no TCP).
static inline int64_t transfer_bytes_acknowledged(int socket) {
    struct transfer_tcp_info info;
    socklen_t length = sizeof info;
    if (getsockopt(socket, 6 /* IPPROTO_TCP */, 11 /* TCP_INFO */, &info, &length) != 0) return -1;
    return length >= sizeof info ? (int64_t)info.bytes_acked : -1;
}

// What the kernel has measured of the way from a peer, in microseconds and segments.
struct transfer_path {
    // A round trip as the receiver of bytes sees it, queues included; 0 before any bytes came.
    uint32_t received_round_trip;
    uint32_t least_round_trip;
    // Segments that came out of order.
    uint32_t disordered;
};

// 0; -1 where the kernel does not say all of it (before 5.5, no TCP). The places are those of linux/tcp.h's tcp_info.
static inline int transfer_path_of(int socket, struct transfer_path *path) {
    unsigned char info[232];
    socklen_t length = sizeof info;
    if (getsockopt(socket, 6 /* IPPROTO_TCP */, 11 /* TCP_INFO */, info, &length) != 0 || length < 228) return -1;
    memcpy(&path->received_round_trip, info + 92, 4);
    memcpy(&path->least_round_trip, info + 148, 4);
    memcpy(&path->disordered, info + 224, 4);
    return 0;
}

// What the kernel knows of a connection's path: times in microseconds, and since something happened in milliseconds.
struct transfer_path_facts {
    int32_t state, backoff;
    uint32_t unacknowledged;
    uint32_t retransmission, round_trip, received_round_trip;
    uint32_t since_data, since_acknowledgement;
    int64_t bytes_received;
};

// 0, or -1 where the kernel doesn't say (before 4.1, no TCP).
static inline int transfer_tcp_path(int socket, struct transfer_path_facts *path) {
    struct transfer_tcp_info info;
    socklen_t length = sizeof info;
    if (getsockopt(socket, 6 /* IPPROTO_TCP */, 11 /* TCP_INFO */, &info, &length) != 0) return -1;
    if (length < sizeof info) return -1;
    path->state = info.states[0], path->backoff = info.states[4];
    path->retransmission = info.numbers[0], path->unacknowledged = info.numbers[4];
    path->since_data = info.numbers[11], path->since_acknowledgement = info.numbers[12];
    path->round_trip = info.numbers[15], path->received_round_trip = info.numbers[21];
    path->bytes_received = (int64_t)info.bytes_received;
    return 0;
}

static inline int transfer_tcp_option(int socket, int name, unsigned value) {
    return setsockopt(socket, 6 /* IPPROTO_TCP */, name, &value, sizeof value);
}

// Has the kernel ask the silent peer at once whether it is there: a keepalive probe, whose answer shows as an
// acknowledgement. The idle time is set last, as that sends the probe where the connection has been idle for longer.
static inline void transfer_tcp_ask(int socket) {
    int on = 1;
    transfer_tcp_option(socket, 5 /* TCP_KEEPINTVL */, 60);
    transfer_tcp_option(socket, 6 /* TCP_KEEPCNT */, 127);
    setsockopt(socket, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
    transfer_tcp_option(socket, 4 /* TCP_KEEPIDLE */, 1);
}

static inline void transfer_tcp_stop_asking(int socket) {
    int off = 0;
    setsockopt(socket, SOL_SOCKET, SO_KEEPALIVE, &off, sizeof off);
}

// Bounds the interval between retransmissions, whose backoff would double it up to two minutes. TCP_RTO_MAX_MS is Linux's
// from 6.15 on; the user timeout keeps the connection from ending after fifteen retransmissions.
static inline int transfer_tcp_bound_retransmission(int socket, unsigned milliseconds) {
    transfer_tcp_option(socket, 7 /* TCP_SYNCNT */, 120);
    if (transfer_tcp_option(socket, 44 /* TCP_RTO_MAX_MS */, milliseconds) != 0) return -1;
    return transfer_tcp_option(socket, 18 /* TCP_USER_TIMEOUT */, 86400000);
}

// Older kernels retransmit at the latest when the user timeout is over (4.19); it has to be moved before that.
static inline void transfer_tcp_move_user_timeout(int socket, unsigned milliseconds) {
    transfer_tcp_option(socket, 18 /* TCP_USER_TIMEOUT */, milliseconds);
}

static inline void transfer_tcp_unbind_retransmission(int socket) {
    transfer_tcp_option(socket, 44 /* TCP_RTO_MAX_MS */, 120000);
    transfer_tcp_option(socket, 18 /* TCP_USER_TIMEOUT */, 0);
}

// A connection's counts and times (the kernel's struct tcp_info, linux/tcp.h, as it was extended up to 4.10); times in
// microseconds.
struct transfer_connection_info {
    uint32_t is_recovering, segment, round_trip, least_round_trip, receive_round_trip;
    uint64_t segments, retransmitted, acknowledged, received;
};

// 0, or -1 where the kernel doesn't say.
static inline int transfer_connection_info(int socket, struct transfer_connection_info *result) {
    struct {
        uint8_t states[8];
        uint32_t numbers[24];
        uint64_t pacing_rate, max_pacing_rate, bytes_acked, bytes_received;
        uint32_t segs_out, segs_in, notsent_bytes, min_rtt, data_segs_in, data_segs_out;
    } info;
    socklen_t length = sizeof info;
    if (getsockopt(socket, 6 /* IPPROTO_TCP */, 11 /* TCP_INFO */, &info, &length) != 0) return -1;
    if (length < sizeof info) return -1;
    result->is_recovering = info.states[1] >= 2;  // TCP_CA_CWR, TCP_CA_Recovery, TCP_CA_Loss
    result->segment = info.numbers[2];
    result->round_trip = info.numbers[15];
    result->receive_round_trip = info.numbers[21];
    result->retransmitted = info.numbers[23];
    result->least_round_trip = info.min_rtt;
    result->segments = info.data_segs_out;
    result->acknowledged = info.bytes_acked;
    result->received = info.bytes_received;
    return 0;
}

// Without it curl_easy_cleanup may wait for a resolver thread (7.87 and newer).
static inline void transfer_easy_set_quick_exit(CURL *easy) {
#if LIBCURL_VERSION_NUM >= 0x075700
    curl_easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L);
#else
    (void)easy;
#endif
}

// Bytes that a block of the system's memory has room for.
static inline size_t transfer_block_size(void *block) { return malloc_usable_size(block); }

// Of the library that is loaded, as 0xXXYYZZ.
// A share of TLS sessions alone; NULL where there is no memory for it. Without a lock: for handles of one thread.
static inline CURLSH *transfer_share_sessions(void) {
    CURLSH *share = curl_share_init();
    if (share && curl_share_setopt(share, CURLSHOPT_SHARE, CURL_LOCK_DATA_SSL_SESSION) != CURLSHE_OK) {
        curl_share_cleanup(share);
        return NULL;
    }
    return share;
}

// "libssh2/1.10.0", or NULL where libcurl was built without SSH (curl_version_info(3)).
static inline const char *transfer_curl_ssh_version(void) {
    return curl_version_info(CURLVERSION_NOW)->libssh_version;
}
static inline unsigned transfer_curl_version_number(void) { return curl_version_info(CURLVERSION_NOW)->version_num; }
