import Glibc

/// A proxy on loopback: HTTP (CONNECT and absolute targets) or SOCKS5. It takes every host name for this machine, so that
/// invented names lead to a ``TestServer``, and keeps a record of what it was asked for.
public final class TestProxy: Sendable {
    public enum Kind: Sendable {
        case http, socks5
    }

    public enum Authentication: Sendable {
        case none
        case basic(user: String, password: String)
        /// HTTP only.
        case digest(user: String, password: String)
        /// HTTP only: it finds each answer to its challenge stale, and has a new one.
        case staleDigest
    }

    /// One thing it was asked for.
    public struct Record: Sendable, Equatable {
        /// `CONNECT`, `FORWARD` or `SOCKS`.
        public var action: String
        /// `host:port` as the client named it: an address where the client has looked the name up.
        public var target: String
        /// From 1; records with the same number shared a connection.
        public var connection: Int
        /// Whether it was let through.
        public var isAllowed: Bool
        /// The scheme of the credentials that came along.
        public var scheme: String?
    }

    struct State {
        var records: [Record] = []
        var sockets: [Int: [Socket]] = [:]
        var threads: [pthread_t] = []
        var connections = 0
        var isStopping = false
        var passing: [PassingRefusal] = []
    }

    struct PassingRefusal {
        var status: Int
        /// Seconds.
        var retryAfter: Int
    }

    let authentication: Authentication
    /// An HTTP proxy's answer to everything, in place of its service.
    let refusal: Int?
    private let kind: Kind
    private let listener: Listener
    private let state = Guarded(State())
    private let acceptThread = Guarded<pthread_t?>(nil)

    public init(_ kind: Kind, authentication: Authentication = .none, refusal: Int? = nil) throws {
        self.kind = kind
        self.authentication = authentication
        self.refusal = refusal
        listener = try Listener(.ipv4())
        let thread = try ServerThread.start { [self] in acceptConnections() }
        acceptThread.withLock { $0 = thread }
    }

    public var port: UInt16 { listener.port }
    public var records: [Record] { state.withLock { $0.records } }
    public var connectionCount: Int { state.withLock { $0.connections } }

    /// - Parameters:
    ///   - scheme: `http`, `socks5`, `socks5h`.
    ///   - userinfo: `user:password`.
    public func url(_ scheme: String = "http", userinfo: String? = nil) -> String {
        "\(scheme)://\(userinfo.map { $0 + "@" } ?? "")127.0.0.1:\(port)"
    }

    /// Ends every connection and returns when every thread has ended.
    public func stop() {
        guard let thread = acceptThread.withLock({ $0.take() }) else { return }
        state.withLock { state in
            state.isStopping = true
            for sockets in state.sockets.values { for socket in sockets { socket.shutdown() } }
        }
        listener.socket.shutdown()
        pthread_join(thread, nil)
        for thread in state.withLock({ $0.threads }) { pthread_join(thread, nil) }
        listener.close()
    }

    /// The next requests are refused by this status and a Retry-After. HTTP only.
    public func refuse(_ status: Int, retryAfter: Int, times: Int) {
        state.withLock { $0.passing += Array(repeating: .init(status: status, retryAfter: retryAfter), count: times) }
    }

    func nextRefusal() -> PassingRefusal? {
        state.withLock { $0.passing.isEmpty ? nil : $0.passing.removeFirst() }
    }

    func record(_ record: Record) { state.withLock { $0.records.append(record) } }

    /// - Throws: ``ConnectionEnded`` when nobody listens there.
    func connect(to port: UInt16, for connection: Int) throws -> Socket {
        let descriptor = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw ConnectionEnded() }
        var name = sockaddr_in()
        name.sin_family = sa_family_t(AF_INET)
        name.sin_port = port.bigEndian
        name.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let result = withUnsafePointer(to: &name) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Glibc.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        let socket = Socket(descriptor: descriptor)
        let isWanted = state.withLock { state in
            guard result == 0, !state.isStopping else { return false }
            state.sockets[connection, default: []].append(socket)
            return true
        }
        guard isWanted else {
            Glibc.close(descriptor)
            throw ConnectionEnded()
        }
        return socket
    }

    private func acceptConnections() {
        while let (socket, _) = listener.accept() {
            let number: Int? = state.withLock { state in
                guard !state.isStopping else { return nil }
                state.connections += 1
                state.sockets[state.connections] = [socket]
                return state.connections
            }
            guard let number else {
                close(socket.descriptor)
                return
            }
            let thread = try? ServerThread.start { [self] in
                let tunnel = ProxyConnection(number: number, socket: socket, proxy: self)
                switch kind {
                case .http: try? tunnel.runHTTP()
                case .socks5: try? tunnel.runSOCKS()
                }
                let sockets = state.withLock { $0.sockets.removeValue(forKey: number) } ?? []
                for socket in sockets { socket.close() }
            }
            guard let thread else { continue }
            state.withLock { $0.threads.append(thread) }
        }
    }
}

/// Runs `body` with a proxy and stops it at the end.
public func withTestProxy<Result>(
    _ kind: TestProxy.Kind = .http, authentication: TestProxy.Authentication = .none, refusal: Int? = nil,
    isolation: isolated (any Actor)? = #isolation, _ body: (TestProxy) async throws -> Result
) async throws -> Result {
    let proxy = try TestProxy(kind, authentication: authentication, refusal: refusal)
    defer { proxy.stop() }
    return try await body(proxy)
}
