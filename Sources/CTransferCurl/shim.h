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

// The kernel's record of a TCP connection (TCP_INFO: struct tcp_info, linux/tcp.h), as far as it is used. Times are in
// microseconds, those since an event in milliseconds. `netinet/tcp.h` has a shorter one.
struct transfer_tcp_facts {
    uint8_t state, congestion_state, backoff;
    uint32_t retransmission_interval, segment, unacknowledged, since_data, since_acknowledgement;
    uint32_t round_trip, received_round_trip, retransmitted;
    int64_t acknowledged, received;
    // Those of newer kernels; UINT32_MAX where the kernel does not say: Linux 4.6, 4.6 and 5.5.
    uint32_t least_round_trip, segments, disordered;
};

// 0, or -1 where the kernel does not say (before 4.1, no TCP).
static inline int transfer_tcp_facts_of(int socket, struct transfer_tcp_facts *facts) {
    struct {
        uint8_t states[8];
        uint32_t numbers[24];
        uint64_t pacing_rate, max_pacing_rate, bytes_acked, bytes_received;
        uint32_t segs_out, segs_in, notsent_bytes, min_rtt, data_segs_in, data_segs_out;
        uint64_t rates_and_times[4];
        uint32_t delivered, delivered_ce;
        uint64_t bytes_sent, bytes_retrans;
        uint32_t dsack_dups, reord_seen, rcv_ooopack, snd_wnd;
    } info;
    socklen_t length = sizeof info;
    if (getsockopt(socket, 6 /* IPPROTO_TCP */, 11 /* TCP_INFO */, &info, &length) != 0 || length < 136) return -1;
    facts->state = info.states[0], facts->congestion_state = info.states[1], facts->backoff = info.states[4];
    facts->retransmission_interval = info.numbers[0], facts->segment = info.numbers[2];
    facts->unacknowledged = info.numbers[4];
    facts->since_data = info.numbers[11], facts->since_acknowledgement = info.numbers[12];
    facts->round_trip = info.numbers[15], facts->received_round_trip = info.numbers[21];
    facts->retransmitted = info.numbers[23];
    facts->acknowledged = (int64_t)info.bytes_acked, facts->received = (int64_t)info.bytes_received;
    facts->least_round_trip = length >= 152 ? info.min_rtt : UINT32_MAX;
    facts->segments = length >= 160 ? info.data_segs_out : UINT32_MAX;
    facts->disordered = length >= 228 ? info.rcv_ooopack : UINT32_MAX;
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
