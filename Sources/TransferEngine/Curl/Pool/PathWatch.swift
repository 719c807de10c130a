import CTransferCurl
import Glibc
import TransferCore
import TransferEventLoop

/// The part of the pool that the paths of its connections need.
protocol PathHost: PoolHost {
    var active: [ExchangeID: ActiveExchange] { get }
    var paths: PathWatch { get }
}

/// The watch that lets exchanges continue after a hole in the network, by the rules of ``PathState``.
///
/// The reasons and the measurements are in "Holes in the network" of TransferEngine.docc/Decisions.md.
final class PathWatch {
    private struct Path {
        let inode: ino_t
        var state: PathState
    }

    private struct Peer {
        /// The time at which a connection to the peer, or a probe, was last answered.
        var heard: MonotonicTime?
        var probe: PathProbe?
    }

    private static let interval = Duration.milliseconds(500)
    /// The time between checks of a doubtful connection.
    private static let closest = Duration.milliseconds(250)

    private var paths: [Int32: Path] = [:]
    private var peers: [PathPeer: Peer] = [:]
    private var isScheduled = false
    private let small: SmallSegments

    init(small: SmallSegments) { self.small = small }

    /// Begins to watch when an exchange begins.
    func begin(on host: isolated some PathHost) {
        if !isScheduled { schedule(Self.interval, on: host) }
    }

    /// Notes that libcurl waits for the socket on behalf of the exchange.
    func used(_ socket: Int32, by exchange: ActiveExchange) {
        guard exchange.connection.path.sockets[socket] == nil, let inode = Self.inode(socket) else { return }
        exchange.connection.path.sockets[socket] = inode
    }

    /// Forgets the sockets of an exchange whose handle has been released.
    func release(_ exchange: ActiveExchange) { exchange.connection.path.sockets.removeAll() }

    /// Prepares a hop's connection. Where large segments may vanish, it gets segments of 1,024 bytes.
    ///
    /// Segments of that size pass wherever IPv6 may be spoken (RFC 4821 §7.2).
    func prepare(_ exchange: ActiveExchange, for url: String) {
        exchange.connection.path.segmentSize = nil
        guard let name = Origin(url: url)?.hostAndPort else { return }
        let use = small.use(for: name)
        if use.isSmall { exchange.connection.path.segmentSize = 1024 }
        if use.isNew { exchange.connection.wantsNewConnection = true }
    }

    private func useSmallSegments(_ exchanges: [ActiveExchange], isProven: Bool) {
        for name in exchanges.compactMap(Self.host(of:)) { small.note(name, isProven: isProven) }
    }

    private static func host(of exchange: ActiveExchange) -> String? {
        exchange.hop.flatMap { Origin(url: $0.url)?.hostAndPort }
    }

    /// Returns the part of the exchange that its connection brings next. A server that needs time looks like one whose
    /// segments are lost. If large segments to the host are known to vanish, a missing answer is judged as strictly as
    /// a handshake.
    private func awaited(_ exchange: ActiveExchange) -> PathState.Awaited {
        let awaited = LostPathRule.awaited(exchange)
        guard awaited == .answer, exchange.connection.path.segmentSize == nil, let name = Self.host(of: exchange),
            small.isProven(name)
        else { return awaited }
        return .handshake
    }

    func shutDown(on host: isolated some PathHost) {
        for peer in peers.values { peer.probe?.end(on: host.loop) }
        peers.removeAll()
        paths.removeAll()
    }

    private func schedule(_ delay: Duration, on host: isolated some PathHost) {
        isScheduled = true
        host.timer(.path).schedule(at: .now + delay)
    }

    // MARK: Checks

    func look(on host: isolated some PathHost) {
        isScheduled = false
        let users = connections(of: host.active.values)
        endUnused(users, on: host)
        guard !host.active.isEmpty else { return }
        let now = MonotonicTime.now
        var lost: [(socket: Int32, loss: PathState.Loss)] = []
        var facts: [Int32: (PathPeer?, PathState.Facts)] = [:]
        for socket in users.keys {
            guard let found = PathState.Facts(of: socket) else { continue }
            // A connection that is not yet established has no peer.
            let peer = PathPeer(of: socket)
            facts[socket] = (peer, found)
            if let peer, found.silence < PathState.quiet {
                let heard = now + (.zero - found.silence)
                peers[peer, default: Peer()].heard = max(peers[peer]?.heard ?? heard, heard)
            }
        }
        for (socket, (peer, found)) in facts {
            guard var path = paths[socket] ?? Self.inode(socket).map({ Path(inode: $0, state: PathState(began: now)) })
            else { continue }
            let awaits = users[socket, default: []].map(awaited).max() ?? .nothing
            let verdict = path.state.look(found, awaits: awaits, others: peer.flatMap { peers[$0]?.heard }, now: now)
            perform(verdict, on: socket, path.state, now)
            paths[socket] = path
            if path.state.isInHole, let peer { probe(peer, beside: socket, now, on: host) }
            if verdict.doubtsSize { useSmallSegments(users[socket, default: []], isProven: false) }
            if let loss = verdict.loss { lost.append((socket, loss)) }
        }
        for (socket, loss) in lost { leave(socket, loss, users[socket] ?? [], facts, on: host) }
        // Silence is found soon after it has become long enough for a question.
        scheduleNext(isSilent: facts.values.contains { $0.1.silence >= Self.interval }, on: host)
    }

    private func scheduleNext(isSilent: Bool, on host: isolated some PathHost) {
        guard !host.active.isEmpty else { return }
        schedule(isSilent || paths.values.contains(where: \.state.isUncertain) ? Self.closest : Self.interval, on: host)
    }

    /// Returns the exchanges of each connection that is still the one that they began to use.
    private func connections(of exchanges: some Sequence<ActiveExchange>) -> [Int32: [ActiveExchange]] {
        var users: [Int32: [ActiveExchange]] = [:]
        for exchange in exchanges where exchange.handle != nil {
            for (socket, inode) in exchange.connection.path.sockets {
                if Self.inode(socket) == inode {
                    users[socket, default: []].append(exchange)
                } else {
                    exchange.connection.path.sockets[socket] = nil
                }
            }
        }
        return users
    }

    /// Ends the watch of connections without an exchange, and restores their settings.
    private func endUnused(_ users: [Int32: [ActiveExchange]], on host: isolated some PathHost) {
        for (socket, path) in paths where users[socket] == nil || Self.inode(socket) != path.inode {
            if Self.inode(socket) == path.inode {
                transfer_tcp_stop_asking(socket)
                if path.state.isBounded { transfer_tcp_unbind_retransmission(socket) }
            }
            paths[socket] = nil
        }
        guard paths.isEmpty else { return }
        for peer in peers.values { peer.probe?.end(on: host.loop) }
        peers.removeAll()
    }

    private func perform(_ verdict: PathState.Verdict, on socket: Int32, _ state: PathState, _ now: MonotonicTime) {
        if verdict.asks { transfer_tcp_ask(socket) }
        if verdict.unbinds { transfer_tcp_unbind_retransmission(socket) }
        guard let bound = verdict.bound else { return }
        let length = UInt32(clamping: bound.inMilliseconds)
        guard transfer_tcp_bound_retransmission(socket, length) != 0 else { return }
        let silence = state.silentSince.map { now - $0 } ?? .zero
        // The timeout is half a second longer than the interval between checks, which may come late.
        transfer_tcp_move_user_timeout(socket, UInt32(clamping: (silence + bound).inMilliseconds) + 1000)
    }

    // MARK: Probes

    private func probe(_ peer: PathPeer, beside socket: Int32, _ now: MonotonicTime, on host: isolated some PathHost) {
        if let probe = peers[peer]?.probe {
            guard now - probe.began >= PathProbe.patience else { return }
            probe.end(on: host.loop)
            peers[peer]?.probe = nil
        }
        guard let probe = PathProbe(beside: socket, now: now) else { return }
        peers[peer, default: Peer()].probe = probe
        host.loop.register(probe.socket, for: .writable) { [weak host] _ in
            host?.onLoop { $0.paths.probed(peer, on: $0) }
        }
    }

    private func probed(_ peer: PathPeer, on host: isolated some PathHost) {
        guard let probe = peers[peer]?.probe else { return }
        if probe.wasAnswered { peers[peer]?.heard = .now }
        probe.end(on: host.loop)
        peers[peer]?.probe = nil
    }

    // MARK: Lost connections

    /// Ends the exchanges of a lost connection, where all of them may continue over another.
    private func leave(
        _ socket: Int32, _ loss: PathState.Loss, _ users: [ActiveExchange],
        _ facts: [Int32: (PathPeer?, PathState.Facts)], on host: isolated some PathHost
    ) {
        let isMoving = users.contains { exchange in
            exchange.connection.path.sockets.keys.contains {
                $0 != socket && (facts[$0]?.1.sinceData ?? .seconds(60)) < PathState.quiet
            }
        }
        guard !isMoving, users.allSatisfy({ LostPathRule.mayLeave($0, loss) }) else { return }
        if loss != .stale { useSmallSegments(users, isProven: true) }
        // The server is notified at once and sends nothing again; libcurl does not keep the connection for the next
        // request.
        Self.reset(socket)
        for exchange in users where host.exchange(exchange.id) != nil { host.giveUp(exchange, .lostPath) }
        paths[socket] = nil
    }

    /// Dissolves a connection by RST (connect(2): AF_UNSPEC). The descriptor stays libcurl's.
    private static func reset(_ socket: Int32) {
        var nowhere = sockaddr(sa_family: sa_family_t(AF_UNSPEC), sa_data: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))
        _ = connect(socket, &nowhere, socklen_t(MemoryLayout<sockaddr>.size))
    }

    private static func inode(_ socket: Int32) -> ino_t? {
        var status = stat()
        return fstat(socket, &status) == 0 ? status.st_ino : nil
    }
}

extension PathState.Facts {
    /// Reads the facts of a socket.
    ///
    /// - Returns: `nil` where the kernel does not report them, and for connections that have ended.
    init?(of socket: Int32) {
        guard let facts = TCPFacts(of: socket), let state = facts.state else { return nil }
        isConnecting = state == .connecting
        unacknowledged = facts.unacknowledged
        backoff = facts.backoff
        retransmission = facts.retransmissionInterval
        roundTrip = max(facts.roundTrip, facts.receivedRoundTrip)
        sinceData = facts.sinceData
        sinceAcknowledgement = facts.sinceAcknowledgement
        received = facts.received
    }
}

extension TransferError {
    static let lostPath = TransferError(
        .networkChanged, "packets vanished on the way; a new connection continues sooner than the old one",
        isTransient: true)
}
