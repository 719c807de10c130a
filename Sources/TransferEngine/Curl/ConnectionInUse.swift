import CTransferCurl
import Glibc
import TransferCore

/// The connection of an exchange's requests: its sockets and handshakes, and why there was none.
struct ConnectionInUse {
    /// The sockets of the pool's connections without TLS, by which an idle one is looked at before it's used.
    var sockets: PlainSockets?
    /// The peer's acknowledgement when the request was about to leave; `nil` again from the answer's first line on.
    var acknowledged: PlainSockets.Acknowledged?
    /// Sockets that were made for the hop.
    var opened: [curl_socket_t] = []
    var path = PathInUse()
    /// Whether the next connection has to be a new one: a kept one was found unfit.
    var wantsNewConnection = false
    /// The number of connections made.
    var connections = 0
    var proxyLegs = ProxyLegs()
    /// The TLS handshake of the connection that was made last.
    var handshake: Handshake?
    var questions: HandshakeQuestions?
    /// The time by which the connection has to stand.
    var connectBound: MonotonicTime
    /// Why no socket could be bound to the link that it requires: `errno`.
    var linkFault: Int32?
    /// Why there was no socket at all: `errno`, where this process or the machine lacks descriptors or memory.
    var socketFault: Int32 = 0
    /// The address that the exchange may not connect to, where there was no other.
    var refusedAddress: String?
    /// Why its server was refused by somebody.
    var refusal: (any Error)?
    /// The time at which our own resolver was asked for the hop that is to begin.
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

    /// A missing kind of address (EAFNOSUPPORT) is no lack: another kind may be there.
    mutating func noteSocketFault(_ code: Int32) { if OpenFiles.isLack(code) { socketFault = code } }

    /// The failure of a hop that got no socket: this machine's, and nothing is known against the other side.
    func socketError(_ code: CURLcode, host: String) -> TransferError? {
        if let refusedAddress, code == CURLE_COULDNT_CONNECT {
            return TransferError(
                .addressRefused,
                "\(host) is \(refusedAddress), which is not a public address; this job may connect to public ones only",
                cause: .curl(Int32(code.rawValue)))
        }
        guard socketFault != 0, code != CURLE_OK else { return nil }
        let reason = String(cString: strerror(socketFault)).lowercasedFirst
        return TransferError(
            .cannotConnect, "can't open a connection to \(host): \(reason)", cause: .os(errno: socketFault),
            isTransient: true)
    }

    /// The failure of a hop whose sockets couldn't be bound.
    ///
    /// - Parameter link: The one that it requires.
    func linkError(_ code: CURLcode, _ link: String?) -> TransferError? {
        guard let link, let linkFault, code == CURLE_COULDNT_CONNECT else { return nil }
        return .linkUnavailable(link, errno: linkFault)
    }
}
