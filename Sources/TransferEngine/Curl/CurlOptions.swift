import CTransferCurl
import TransferCore

/// The options of one hop, for a handle that has none.
struct CurlOptions {
    let exchange: ActiveExchange
    let hop: Hop
    /// The entries for CURLOPT_RESOLVE with the addresses that our own resolver found.
    let resolved: [String]
    /// The remaining time of the whole exchange.
    let timeLeft: Duration?
    /// The schemes that the proxy is known to ask for (CURLAUTH_…).
    var proxySchemes: UInt?
    /// The upload sockets of the pool, as connections outlive their exchange.
    let uploadSockets: UploadSockets

    func apply(to handle: CurlHandle) throws(TransferError) {
        if let files = exchange.files { return try apply(files, to: handle) }
        let joined = try exchange.bodyToJoin(hop)
        exchange.outgoing.isJoined = joined != nil
        let shape = HandleShape(exchange, hop, resolved: resolved)
        if let shape, handle.shape == shape {
            try handle.collectErrorText()
            try handle.set(CURLOPT_URL, hop.url)
            if let joined { try handle.set(body: joined) }
            return try applyPointers(handle)
        }
        if handle.shape != nil { handle.reset() }
        try applyAll(handle, joined)
        handle.shape = shape
    }

    private func applyAll(_ handle: CurlHandle, _ joined: [UInt8]?) throws(TransferError) {
        let settings = exchange.request.settings
        try applyPlace(handle, settings)
        try handle.set(CURLOPT_FOLLOWLOCATION, 0)
        try handle.set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
        if settings.route.speaksHTTP1Only { try handle.set(CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_1_1)) }
        if exchange.connection.wantsNewConnection { try handle.set(CURLOPT_FRESH_CONNECT, 1) }
        try handle.set(CURLOPT_HTTP09_ALLOWED, 0)
        try applyTimes(handle, settings)
        // A buffer beyond a moment's share of the rate would make the flow uneven. A used handle may refuse the option
        // and then keeps its buffer.
        let wanted = exchange.sink is RemoteSink ? BodyPipe.share(of: BodyPipe.buffers) : settings.receiveBufferSize
        let bufferSize = max(1 << 10, min(512 << 10, wanted))
        _ = transfer_easy_set_long(handle.raw, CURLOPT_BUFFERSIZE, exchange.limiters.isEmpty ? bufferSize : 16 << 10)
        if !exchange.limiters.isEmpty {
            _ = transfer_easy_set_long(handle.raw, CURLOPT_UPLOAD_BUFFERSIZE, 16 << 10)
        } else if exchange.body.isPiped {
            _ = transfer_easy_set_long(handle.raw, CURLOPT_UPLOAD_BUFFERSIZE, BodyPipe.share(of: BodyPipe.buffers))
        } else if hop.sendsBody, exchange.body.length ?? .max >= 1 << 20 {
            // One wake-up for each of libcurl's 64 KiB is half of the cost of a fast upload.
            _ = transfer_easy_set_long(handle.raw, CURLOPT_UPLOAD_BUFFERSIZE, 512 << 10)
        }
        try applyCallbacks(handle)
        try applyMethod(handle, joined)
        try handle.set(CURLOPT_HTTPHEADER, list: try headerLines())
        try applyTLS(handle)
        try applyCredentials(handle)
    }

    /// Sets the destination and the route.
    private func applyPlace(_ handle: CurlHandle, _ settings: ExchangeSettings) throws(TransferError) {
        try handle.collectErrorText()
        try handle.set(CURLOPT_URL, hop.url)
        try handle.check(transfer_easy_set_http_only(handle.raw), CURLOPT_URL)
        transfer_easy_set_quick_exit(handle.raw)
        try handle.set(CURLOPT_NOSIGNAL, 1)
        try GivenAddresses.apply(resolved, to: handle)
        try applyFamilies(handle, settings)
        try SocketCallbacks.apply(to: handle)
        try uploadSockets.apply(to: handle)
        try applyProxy(handle, settings)
    }

    /// Sets the versions of IP.
    func applyFamilies(_ handle: CurlHandle, _ settings: ExchangeSettings) throws(TransferError) {
        switch settings.route.families {
        case .any: break
        case .v4: try handle.set(CURLOPT_IPRESOLVE, Int(CURL_IPRESOLVE_V4))
        case .v6: try handle.set(CURLOPT_IPRESOLVE, Int(CURL_IPRESOLVE_V6))
        }
    }

    /// Sets the timeouts. The pool watches for silence and for the end of the whole time, in one check of all
    /// exchanges.
    ///
    /// Timers of libcurl's own would add a cost to every transfer.
    private func applyTimes(_ handle: CurlHandle, _ settings: ExchangeSettings) throws(TransferError) {
        if let idle = settings.idleTimeout, settings.connectTimeout >= idle { return }
        try handle.set(CURLOPT_CONNECTTIMEOUT_MS, Self.milliseconds(settings.connectTimeout))
    }

    /// Converts a duration for libcurl, which keeps timeouts as 32 bits of milliseconds: at most 24 days. 0 would mean
    /// no timeout.
    static func milliseconds(_ duration: Duration) -> Int {
        Int(min(max(1, duration.inMilliseconds), Int64(Int32.max)))
    }

    private func applyCallbacks(_ handle: CurlHandle) throws(TransferError) {
        try applyPointers(handle)
        try handle.check(
            transfer_easy_set_write(handle.raw, CURLOPT_WRITEFUNCTION, CurlCallbacks.write), CURLOPT_WRITEFUNCTION)
        try handle.check(
            transfer_easy_set_write(handle.raw, CURLOPT_HEADERFUNCTION, CurlCallbacks.header), CURLOPT_HEADERFUNCTION)
        try handle.check(transfer_easy_set_prerequest(handle.raw, CurlCallbacks.prerequest), CURLOPT_PREREQFUNCTION)
    }

    private func applyPointers(_ handle: CurlHandle) throws(TransferError) {
        let pointer = Unmanaged.passUnretained(exchange).toOpaque()
        try handle.set(CURLOPT_PRIVATE, pointer: pointer)
        try handle.set(CURLOPT_WRITEDATA, pointer: pointer)
        try handle.set(CURLOPT_HEADERDATA, pointer: pointer)
        try handle.set(CURLOPT_SSL_CTX_DATA, pointer: pointer)
        try handle.set(CURLOPT_SOCKOPTDATA, pointer: pointer)
        try handle.set(CURLOPT_PREREQDATA, pointer: pointer)
        try LinkCallbacks.apply(to: handle, exchange)
        try handle.set(cookie: HopCookies.field(for: hop, exchange.request))
    }

    private func applyMethod(_ handle: CurlHandle, _ joined: [UInt8]?) throws(TransferError) {
        if let joined {
            try handle.set(body: joined)
            if hop.method != "POST" { try handle.set(CURLOPT_CUSTOMREQUEST, hop.method) }
        } else if hop.sendsBody {
            let pointer = Unmanaged.passUnretained(exchange).toOpaque()
            try handle.set(CURLOPT_UPLOAD, 1)
            try handle.set(CURLOPT_INFILESIZE_LARGE, offset: exchange.body.length ?? -1)
            try handle.check(transfer_easy_set_read(handle.raw, CurlCallbacks.read), CURLOPT_READFUNCTION)
            try handle.set(CURLOPT_READDATA, pointer: pointer)
            try handle.check(transfer_easy_set_seek(handle.raw, CurlCallbacks.seek), CURLOPT_SEEKFUNCTION)
            try handle.set(CURLOPT_SEEKDATA, pointer: pointer)
            if hop.method != "PUT" { try handle.set(CURLOPT_CUSTOMREQUEST, hop.method) }
        } else if hop.method == "HEAD" {
            try handle.set(CURLOPT_NOBODY, 1)
        } else if hop.method != "GET" {
            try handle.set(CURLOPT_CUSTOMREQUEST, hop.method)
        }
    }

    /// Returns the header lines. `Name;` sends a field without a value, `Name:` would remove it
    /// (CURLOPT_HTTPHEADER(3)).
    ///
    /// - Throws: An error for a field with a line break in it, which would end the field and begin another.
    private func headerLines() throws(TransferError) -> [String] {
        for field in hop.headers where Self.hasBreak(field.name) || Self.hasBreak(field.value) {
            throw TransferError(
                .invalidRequest, "the header field \(field.name.debugDescription) has a line break in it")
        }
        // A name alone removes the field that libcurl would add.
        var without = hop.mayExpect || hop.asksFirst ? [] : ["Expect:"]
        // libcurl takes a body that is passed at once for a form.
        if exchange.outgoing.isJoined, hop.headers.value("Content-Type") == nil { without.append("Content-Type:") }
        var fields = hop.headers
        if case .field(let value) = hop.authorization { fields.set("Authorization", value) }
        if hop.asksFirst { fields.set("Expect", "100-continue") }
        return without + fields.map { $0.value.isEmpty ? "\($0.name);" : "\($0.name): \($0.value)" }
    }

    private static func hasBreak(_ text: String) -> Bool { text.utf8.contains { $0 == 0 || $0 == 10 || $0 == 13 } }

    /// Sets up TLS. Our own rules judge the server, in our own part of the handshake.
    ///
    /// libcurl's checks are switched off, so that it does not read a file of authorities for each connection. libcurl
    /// judges a proxy.
    func applyTLS(_ handle: CurlHandle) throws(TransferError) {
        try handle.check(transfer_easy_set_context(handle.raw, CurlCallbacks.context), CURLOPT_SSL_CTX_FUNCTION)
        try handle.set(CURLOPT_CAINFO, nil as String?)
        try handle.set(CURLOPT_CAPATH, nil as String?)
        try handle.set(CURLOPT_SSL_VERIFYPEER, 0)
        try handle.set(CURLOPT_SSL_VERIFYHOST, 0)
        try handle.set(CURLOPT_SSLVERSION, CURL_SSLVERSION_TLSv1_2)
        // The setting is the only mark that distinguishes OpenSSL's context for a proxy from that for the host.
        try handle.set(
            CURLOPT_PROXY_SSLVERSION,
            CURL_SSLVERSION_TLSv1_2 | CURL_SSLVERSION_TLSv1_3 << 16)
        // With a folder of certificates libcurl cannot keep the parsed ones: 17 ms instead of 1.5 ms per connection.
        try handle.set(CURLOPT_PROXY_CAPATH, nil as String?)
    }
}
