import CTransferCurl
import Glibc

/// libcurl's callbacks: C functions that find their exchange by the pointer that was set with them.
///
/// The callbacks run inside `curl_multi_socket_action` on the loop's thread, so the exchange is theirs for the moment.
enum CurlCallbacks {
    static let header: transfer_write_callback = { bytes, size, count, user in
        guard let user, let bytes else { return 0 }
        let exchange = Unmanaged<ActiveExchange>.fromOpaque(user).takeUnretainedValue()
        if let files = exchange.files {
            files.received(UnsafeRawBufferPointer(start: bytes, count: size * count), of: exchange)
            return size * count
        }
        // A call delivers one line, except after pauses within a head: libcurl then delivers the kept lines together.
        var line = UnsafeRawPointer(bytes)
        let end = line + size * count
        while line < end {
            let next = memchr(line, Int32(UInt8(ascii: "\n")), end - line).map { UnsafeRawPointer($0) + 1 } ?? end
            guard exchange.receivedHeaderLine(UnsafeRawBufferPointer(start: line, count: next - line)) else {
                return stop
            }
            line = next
        }
        return size * count
    }

    static let write: transfer_write_callback = { bytes, size, count, user in
        guard let user, let bytes else { return 0 }
        let exchange = Unmanaged<ActiveExchange>.fromOpaque(user).takeUnretainedValue()
        // The pause is set here and not only by curl_easy_pause. libcurl forgets a pause that was set before the
        // transfer began, and calls many times before the loop can set one.
        guard exchange.pace.holds.isDisjoint(with: [.user, .rate]), !exchange.pace.mustPause else {
            return Int(CURL_WRITEFUNC_PAUSE)
        }
        if let files = exchange.files {
            switch files.bodyComes(to: exchange) {
            case .taken: break
            case .ignored: return size * count
            case .stop:
                exchange.leaveAnswer()
                return stop
            }
        }
        guard exchange.answer.phase != .deciding else {
            exchange.pace.holds.insert(.decision)
            return Int(CURL_WRITEFUNC_PAUSE)
        }
        guard exchange.sink.isReady else {
            exchange.pace.holds.insert(.sink)
            return Int(CURL_WRITEFUNC_PAUSE)
        }
        switch exchange.receivedBody(UnsafeRawBufferPointer(start: bytes, count: size * count)) {
        case .taken: return size * count
        case .held:
            exchange.pace.holds.insert(.sink)
            return Int(CURL_WRITEFUNC_PAUSE)
        case .paused: return Int(CURL_WRITEFUNC_PAUSE)
        case .stop:
            exchange.leaveAnswer()
            return stop
        }
    }

    static let read: transfer_read_callback = { bytes, size, count, user in
        guard let user, let bytes else { return Int(CURL_READFUNC_ABORT) }
        let exchange = Unmanaged<ActiveExchange>.fromOpaque(user).takeUnretainedValue()
        guard exchange.pace.holds.isDisjoint(with: [.user, .rate]), !exchange.pace.mustPause else {
            return Int(CURL_READFUNC_PAUSE)
        }
        switch exchange.provideBody(UnsafeMutableRawBufferPointer(start: bytes, count: size * count)) {
        case .bytes(let count): return count
        case .later: return Int(CURL_READFUNC_PAUSE)
        case .failed: return Int(CURL_READFUNC_ABORT)
        }
    }

    static let seek: transfer_seek_callback = { user, offset, origin in
        guard let user, origin == SEEK_SET else { return CURL_SEEKFUNC_CANTSEEK }
        let exchange = Unmanaged<ActiveExchange>.fromOpaque(user).takeUnretainedValue()
        let start = exchange.files?.bodyOffset ?? 0
        return exchange.rewindBody(to: Int64(offset) - start) ? CURL_SEEKFUNC_OK : CURL_SEEKFUNC_CANTSEEK
    }

    /// Decides whether the request may leave, once the connection stands.
    static let prerequest: transfer_prerequest_callback = { user, address, localAddress, port, localPort in
        guard let user else { return CURL_PREREQFUNC_ABORT }
        let exchange = Unmanaged<ActiveExchange>.fromOpaque(user).takeUnretainedValue()
        let mayLeave = exchange.mayMakeRequest(
            between: PlainSockets.Ends(
                localAddress: localAddress.map { String(cString: $0) } ?? "", localPort: Int(localPort),
                address: address.map { String(cString: $0) } ?? "", port: Int(port)))
        return mayLeave ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT
    }

    /// Begins a TLS connection, to the host or first to a proxy. libcurl judges the proxy.
    static let context: transfer_context_callback = { _, context, user in
        guard let user, let context else { return CURLE_SSL_CERTPROBLEM }
        let exchange = Unmanaged<ActiveExchange>.fromOpaque(user).takeUnretainedValue()
        return Handshake.begin(exchange, OpaquePointer(context)) ? CURLE_OK : CURLE_SSL_CERTPROBLEM
    }

    /// The count that ends the transfer: any count other than the given one does (CURLOPT_WRITEFUNCTION(3)), and every
    /// given one is above 0.
    private static let stop = 0
}
