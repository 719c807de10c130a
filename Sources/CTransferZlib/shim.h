// zlib, with its macros as functions, so that Swift can call them.
#pragma once
#if !__has_include(<zlib.h>)
#error "zlib is missing: apt-get install zlib1g-dev"
#endif
#include <zlib.h>

// A raw deflate stream (RFC 1951): no header and no check value of its own.
static inline int transfer_deflate_init_raw(z_stream *stream, int level) {
    return deflateInit2(stream, level, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
}

// windowBits as in zlib.h: 15 for zlib's wrapping, 31 for gzip's, -15 for none.
static inline int transfer_inflate_init(z_stream *stream, int windowBits) {
    return inflateInit2(stream, windowBits);
}
