import CTransferCurl
import TransferCore

/// The requests of one hop that libcurl makes automatically, each with an answer to its proxy's challenge.
///
/// libcurl continues while the proxy calls the last answer stale (RFC 7616 §3.4), which a broken proxy does forever.
/// The requests for a tunnel and their answers reach only the callback for traces. The head of a refusal may name a
/// time to wait.
struct ProxyLegs {
    /// The most requests: Digest takes two, NTLM three, and a nonce may have become stale.
    static let most = 6

    private static let mostOfAHead = 16 << 10

    private(set) var count = 0
    /// The lines of the last head, without the first.
    private(set) var head: [UInt8] = []

    var areTooMany: Bool { count > Self.most }

    mutating func add() { count += 1 }

    mutating func heard(_ line: UnsafeRawBufferPointer) {
        if line.starts(with: "HTTP/".utf8) {
            head.removeAll(keepingCapacity: true)
        } else if head.count + line.count <= Self.mostOfAHead {
            head += line
        }
    }

    static let trace: transfer_debug_callback = { _, kind, bytes, size, user in
        guard let user else { return 0 }
        let exchange = Unmanaged<ActiveExchange>.fromOpaque(user).takeUnretainedValue()
        switch kind {
        case CURLINFO_HEADER_OUT: exchange.connection.proxyLegs.add()
        case CURLINFO_HEADER_IN:
            exchange.connection.proxyLegs.heard(UnsafeRawBufferPointer(start: bytes, count: size))
        default: break
        }
        return 0
    }

    static let progress: transfer_xferinfo_callback = { user, _, _, _, _ in
        guard let user else { return 0 }
        return Unmanaged<ActiveExchange>.fromOpaque(user).takeUnretainedValue().connection.proxyLegs.areTooMany ? 1 : 0
    }
}

extension ProxyLegs {
    /// Begins to record the requests to the proxy of the exchange's hop.
    static func measure(_ exchange: ActiveExchange, on handle: CurlHandle) throws(TransferError) {
        exchange.connection.proxyLegs = ProxyLegs()
        let pointer = Unmanaged.passUnretained(exchange).toOpaque()
        try handle.set(CURLOPT_DEBUGDATA, pointer: pointer)
        try handle.check(transfer_easy_set_debug(handle.raw, ProxyLegs.trace), CURLOPT_DEBUGFUNCTION)
        try handle.set(CURLOPT_VERBOSE, 1)
        try handle.set(CURLOPT_XFERINFODATA, pointer: pointer)
        try handle.check(transfer_easy_set_progress(handle.raw, ProxyLegs.progress), CURLOPT_XFERINFOFUNCTION)
        try handle.set(CURLOPT_NOPROGRESS, 0)
    }
}
