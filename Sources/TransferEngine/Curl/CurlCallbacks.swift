import CTransferCurl

/// libcurl's callbacks: C functions that find their exchange by the pointer that was set with them.
///
/// They run inside `curl_multi_socket_action` on the loop's thread, so the exchange is theirs for the moment.
enum CurlCallbacks {
    static let header: transfer_write_callback = { bytes, size, count, user in
        guard let user, let bytes else { return 0 }
        let exchange = Unmanaged<ActiveExchange>.fromOpaque(user).takeUnretainedValue()
        let line = UnsafeRawBufferPointer(start: bytes, count: size * count)
        return exchange.receivedHeaderLine(line) ? size * count : stop
    }

    static let write: transfer_write_callback = { bytes, size, count, user in
        guard let user, let bytes else { return 0 }
        let exchange = Unmanaged<ActiveExchange>.fromOpaque(user).takeUnretainedValue()
        // Here and not only by curl_easy_pause: libcurl forgets a pause that was set before the transfer began, and
        // calls many times before the loop gets round to setting one.
        guard !exchange.isSuspended, !exchange.mustPause else { return Int(CURL_WRITEFUNC_PAUSE) }
        return exchange.receivedBody(UnsafeRawBufferPointer(start: bytes, count: size * count)) ? size * count : stop
    }

    static let read: transfer_read_callback = { bytes, size, count, user in
        guard let user, let bytes else { return Int(CURL_READFUNC_ABORT) }
        let exchange = Unmanaged<ActiveExchange>.fromOpaque(user).takeUnretainedValue()
        guard !exchange.isSuspended, !exchange.mustPause else { return Int(CURL_READFUNC_PAUSE) }
        return exchange.provideBody(UnsafeMutableRawBufferPointer(start: bytes, count: size * count))
            ?? Int(CURL_READFUNC_ABORT)
    }

    static let seek: transfer_seek_callback = { user, offset, origin in
        guard let user, origin == SEEK_SET else { return CURL_SEEKFUNC_CANTSEEK }
        Unmanaged<ActiveExchange>.fromOpaque(user).takeUnretainedValue().rewindBody(to: Int64(offset))
        return CURL_SEEKFUNC_OK
    }

    /// Any count but the one that was given ends the transfer (CURLOPT_WRITEFUNCTION(3)); every given one is above 0.
    private static let stop = 0
}
