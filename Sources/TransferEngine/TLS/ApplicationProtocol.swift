import CTransferOpenSSL

/// The protocol for which a TLS connection was negotiated.
enum ApplicationProtocol {
    /// Returns whether the protocol is HTTP/2 (ALPN, RFC 7301; RFC 9113 §3.2).
    ///
    /// - Parameter session: An `SSL *`.
    static func isHTTP2(_ session: UnsafeMutableRawPointer) -> Bool {
        var name: UnsafePointer<UInt8>?
        var length: UInt32 = 0
        SSL_get0_alpn_selected(OpaquePointer(session), &name, &length)
        return UnsafeBufferPointer(start: name, count: Int(length)).elementsEqual("h2".utf8)
    }
}
