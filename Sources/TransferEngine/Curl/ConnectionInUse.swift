import CTransferCurl
import Glibc
import TransferCore

/// The connection of an exchange's requests: its sockets and handshakes, and the reason why there was none.
struct ConnectionInUse {
    /// The sockets of the pool's connections without TLS, by which an idle connection is checked before it is used.
    var sockets: PlainSockets?
    /// The peer's acknowledgement when the request was about to leave; `nil` again from the answer's first line on.
    var acknowledged: PlainSockets.Acknowledged?
    /// The sockets that were made for the hop.
    var opened: [curl_socket_t] = []
    var path = PathInUse()
    /// Whether the next connection must be a new one, because a kept one was unusable.
    var wantsNewConnection = false
    /// The number of connections made.
    var connections = 0
    var proxyLegs = ProxyLegs()
    /// The TLS handshake of the most recent connection.
    var handshake: Handshake?
    var questions: HandshakeQuestions?
    /// The time by which the connection must stand.
    var connectBound: MonotonicTime
    /// The `errno` for which no socket could be bound to the required link.
    var linkFault: Int32?
    /// The `errno` for which there was no socket at all, where this process or the machine lacks descriptors or memory.
    var socketFault: Int32 = 0
    /// The address that the exchange may not connect to, where there was no other.
    var refusedAddress: String?
    /// The reason why a decision of the program refused the server.
    var refusal: (any Error)?
    /// The time at which our own resolver was asked for the next hop.
    var lookUpStart: MonotonicTime?

    init(bound: MonotonicTime) { connectBound = bound }

    mutating func beginHop() {
        path.sending = nil
        path.last = -1
        linkFault = nil
        socketFault = 0
        refusedAddress = nil
        opened.removeAll(keepingCapacity: true)
    }

    /// Notes the error of a socket. A missing address family (EAFNOSUPPORT) is no lack: another family may work.
    mutating func noteSocketFault(_ code: Int32) { if OpenFiles.isLack(code) { socketFault = code } }

    /// Returns the error of a hop that got no socket. The fault is this machine's and says nothing against the other
    /// side.
    func socketError(_ code: CURLcode, host: String) -> TransferError? {
        if let refusedAddress, code == CURLE_COULDNT_CONNECT {
            return .addressRefused(host: host, address: refusedAddress, cause: .curl(Int32(code.rawValue)))
        }
        guard socketFault != 0, code != CURLE_OK else { return nil }
        let reason = String(cString: strerror(socketFault)).lowercasedFirst
        return TransferError(
            .cannotConnect, "cannot open a connection to \(host): \(reason)", cause: .os(errno: socketFault),
            isTransient: true)
    }

    /// Returns the error of a hop whose sockets could not be bound.
    ///
    /// - Parameter link: The link that the hop requires.
    func linkError(_ code: CURLcode, _ link: String?) -> TransferError? {
        guard let link, let linkFault, code == CURLE_COULDNT_CONNECT else { return nil }
        return .linkUnavailable(link, errno: linkFault)
    }
}

extension TransferError {
    /// Returns the error of a job for public servers whose server has another address.
    static func addressRefused(host: String, address: String, cause: Cause? = nil) -> TransferError {
        TransferError(
            .addressRefused,
            "\(host) is \(address), which is not a public address; this job may connect to public ones only",
            cause: cause)
    }
}
