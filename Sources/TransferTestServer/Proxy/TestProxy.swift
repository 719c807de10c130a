import Glibc

/// A proxy on loopback: HTTP (CONNECT and absolute targets) or SOCKS5. It maps all host names to this machine, so that
/// invented names lead to a ``TestServer``, and records its requests.
public final class TestProxy: Sendable {
    /// The protocol of the proxy.
    public enum Kind: Sendable {
        case http, socks5
    }

    /// The authentication that the proxy requires.
    public enum Authentication: Sendable {
        case none
        case basic(user: String, password: String)
        /// Digest authentication; HTTP only.
        case digest(user: String, password: String)
        /// Digest authentication in which every response to the challenge counts as stale and gets a new challenge;
        /// HTTP only.
        case staleDigest
    }

    /// A request to the proxy.
    public struct Record: Sendable, Equatable {
        /// The action: `CONNECT`, `FORWARD` or `SOCKS`.
        public var action: String
        /// The target `host:port` as the client named it: an address where the client has resolved the name.
        public var target: String
        /// The number of the connection, from 1; records with the same number shared one.
        public var connection: Int
        /// Whether the request was granted.
        public var isAllowed: Bool
        /// The scheme of the credentials in the request; `nil` without credentials.
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
        /// The value of Retry-After in seconds.
        var retryAfter: Int
    }

    let authentication: Authentication
    /// The status with which an HTTP proxy refuses all requests; `nil` for normal service.
    let refusal: Int?
    private let kind: Kind
    private let listener: Listener
    private let state = Guarded(State())
    private let acceptThread = Guarded<pthread_t?>(nil)

    /// Starts a proxy on a free port of 127.0.0.1.
    ///
    /// - Parameter refusal: The status with which an HTTP proxy refuses all requests.
    /// - Throws: ``TestServerError`` where the socket cannot be opened.
    public init(_ kind: Kind, authentication: Authentication = .none, refusal: Int? = nil) throws {
        self.kind = kind
        self.authentication = authentication
        self.refusal = refusal
        listener = try Listener(.ipv4())
        let thread = try ServerThread.start { [self] in acceptConnections() }
        acceptThread.withLock { $0 = thread }
    }

    /// The port on 127.0.0.1 at which the proxy listens.
    public var port: UInt16 { listener.port }
    /// The requests so far, in their order.
    public var records: [Record] { state.withLock { $0.records } }
    /// The number of connections accepted so far.
    public var connectionCount: Int { state.withLock { $0.connections } }

    /// Returns the proxy's URL.
    ///
    /// - Parameters:
    ///   - scheme: The scheme: `http`, `socks5` or `socks5h`.
    ///   - userinfo: The credentials as `user:password`.
    public func url(_ scheme: String = "http", userinfo: String? = nil) -> String {
        "\(scheme)://\(userinfo.map { $0 + "@" } ?? "")127.0.0.1:\(port)"
    }

    /// Ends all connections, and returns once all threads have ended.
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

    /// Refuses the next requests with this status and a Retry-After in seconds. HTTP only.
    public func refuse(_ status: Int, retryAfter: Int, times: Int) {
        state.withLock { $0.passing += Array(repeating: .init(status: status, retryAfter: retryAfter), count: times) }
    }

    func nextRefusal() -> PassingRefusal? {
        state.withLock { $0.passing.isEmpty ? nil : $0.passing.removeFirst() }
    }

    func record(_ record: Record) { state.withLock { $0.records.append(record) } }

    /// Connects to a port of this machine.
    ///
    /// - Throws: ``ConnectionEnded`` where no process listens there.
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

/// Runs `body` with a proxy, and stops the proxy at the end.
///
/// - Throws: ``TestServerError`` where the proxy cannot be started; the errors of `body`.
public func withTestProxy<Result>(
    _ kind: TestProxy.Kind = .http, authentication: TestProxy.Authentication = .none, refusal: Int? = nil,
    isolation: isolated (any Actor)? = #isolation, _ body: (TestProxy) async throws -> Result
) async throws -> Result {
    let proxy = try TestProxy(kind, authentication: authentication, refusal: refusal)
    defer { proxy.stop() }
    return try await body(proxy)
}
