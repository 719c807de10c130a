import TransferCore
import TransferEventLoop

/// The part of the pool that the steering of its sockets needs.
protocol SteeringHost: PoolHost {}

/// The congestion control of sending sockets and the pace of those that background jobs use, checked several times a
/// second.
///
/// An option is set when an exchange begins to use a connection, not when its socket is made. A route's own choice
/// (`congctl`) replaces options that were set before connect(2).
final class SocketSteering {
    private struct Entry {
        let exchange: ExchangeID
        var preference: Preference
        /// The peer's address; `nil` before the connection is made.
        var peer: String?
        var losses = LossJudgement()
        var isSettled = false
        /// Whether libcurl has the socket: after it is closed, its number may belong to any other descriptor.
        var isWatched = true
        var pace = BackgroundPace()
    }

    /// The steering that an exchange wants for its connections.
    struct Preference: Hashable {
        /// The congestion control; `nil` for an exchange that sends too little for it to matter.
        var congestion: CongestionControl?
        var isBackground = false
        var sends = false

        var isNone: Bool { congestion == nil && !isBackground }
    }

    private let memory: CongestionMemory
    private var entries: [Int32: Entry] = [:]
    /// The paces of connections that no exchange uses at the moment.
    private var idle: [Int32: BackgroundPace] = [:]
    private static let mostIdle = 256

    private static let interval = Duration.milliseconds(50)

    init(memory: CongestionMemory) { self.memory = memory }

    /// Notes that libcurl waits for the socket on behalf of the exchange.
    func used(_ socket: Int32, by exchange: ActiveExchange, on host: isolated some SteeringHost) {
        let preference = Preference(of: exchange)
        guard !preference.isNone else { return }
        // Over HTTP/2 several exchanges share one socket.
        if let entry = entries[socket], entry.preference == preference,
            entry.exchange == exchange.id
                || host.exchange(entry.exchange) != nil && !exchange.connection.opened.contains(socket)
        {
            entries[socket]?.isWatched = true
            if entry.peer == nil { begin(socket, exchange) }
            return
        }
        var entry = Entry(exchange: exchange.id, preference: preference)
        // An existing connection continues at its pace.
        if preference.isBackground, !exchange.connection.opened.contains(socket), let pace = idle[socket] {
            entry.pace = pace
        }
        idle[socket] = nil
        entries[socket] = entry
        begin(socket, exchange)
        let timer = host.timer(.steering)
        if !timer.isScheduled { timer.schedule(at: .now + Self.interval) }
    }

    /// Notes that libcurl no longer waits for the socket: it is idle, held back, or about to be closed.
    func unused(_ socket: Int32) { entries[socket]?.isWatched = false }

    /// Sets the options that need no measurement.
    private func begin(_ socket: Int32, _ exchange: ActiveExchange) {
        guard var entry = entries[socket] else { return }
        entry.peer = SteeredSocket(descriptor: socket).peer
        if let congestion = entry.preference.congestion, !entry.isSettled {
            switch congestion {
            case .system: entry.isSettled = true
            case .named(let name):
                entry.isSettled = true
                choose(name, .asked, socket, exchange)
            case .automatic:
                if let peer = entry.peer, memory.isLossy(peer, now: MonotonicTime.now.seconds) {
                    entry.isSettled = true
                    choose(CongestionControl.forLosses, .lostBefore, socket, exchange)
                } else if memory.refusal(of: CongestionControl.forLosses) != nil {
                    // BBR is refused, so losses could change nothing and are not observed.
                    entry.isSettled = true
                }
            }
        }
        entries[socket] = entry
    }

    func look(on host: isolated some SteeringHost) {
        let now = MonotonicTime.now.seconds
        for (descriptor, var entry) in entries {
            let socket = SteeredSocket(descriptor: descriptor)
            let exchange = host.exchange(entry.exchange)
            if exchange?.handle != nil, !entry.isWatched { continue }
            guard let exchange, exchange.handle != nil, let facts = TCPFacts(of: descriptor) else {
                entries[descriptor] = nil
                if entry.preference.isBackground, idle.count < Self.mostIdle { idle[descriptor] = entry.pace }
                continue
            }
            if entry.peer == nil { entry.peer = socket.peer }
            if !entry.isSettled { judge(&entry, facts, socket, exchange, now) }
            if entry.preference.isBackground { pace(&entry, facts, socket, now) }
            // Nothing is left to look for.
            entries[descriptor] = entry.isSettled && !entry.preference.isBackground ? nil : entry
        }
        if !entries.isEmpty { host.timer(.steering).schedule(at: .now + Self.interval) }
    }

    // MARK: Congestion control

    private func judge(
        _ entry: inout Entry, _ facts: TCPFacts, _ socket: SteeredSocket, _ exchange: ActiveExchange,
        _ now: Double
    ) {
        guard entry.preference.congestion == .automatic else {
            entry.isSettled = true
            return
        }
        // A connection without a measurement shows no losses either.
        guard let segments = facts.segments, let least = facts.leastRoundTrip else { return }
        let sample = LossJudgement.Sample(
            segments: segments, retransmitted: facts.retransmitted, roundTrip: facts.roundTrip.inSeconds,
            leastRoundTrip: least.inSeconds, isRecovering: facts.isRecovering)
        guard let share = entry.losses.take(sample, now: now) else { return }
        entry.isSettled = true
        if let peer = entry.peer { memory.lost(peer, now: now) }
        choose(CongestionControl.forLosses, .losses(share), socket.descriptor, exchange)
    }

    private func choose(
        _ name: String, _ reason: CongestionUse.Reason, _ descriptor: Int32, _ exchange: ActiveExchange
    ) {
        let socket = SteeredSocket(descriptor: descriptor)
        // The system's algorithm may be the wanted one already.
        guard socket.congestion != name else { return }
        let refusal = memory.refusal(of: name) ?? socket.setCongestion(name)
        let use = CongestionUse(name: name, reason: refusal.map { .refused($0) } ?? reason)
        if let refusal, memory.refused(name, refusal) { exchange.events(.congestionRefused(use)) }
        exchange.meter.update(congestion: use)
    }

    // MARK: Background

    private func pace(
        _ entry: inout Entry, _ facts: TCPFacts, _ socket: SteeredSocket, _ now: Double
    ) {
        let roundTrip = (entry.preference.sends ? facts.roundTrip : facts.receivedRoundTrip).inSeconds
        guard let least = facts.leastRoundTrip?.inSeconds, least > 0, roundTrip > 0 else { return }
        let seen = min(least, roundTrip)
        let base = entry.peer.map { memory.base(of: $0, seen, now: now) } ?? seen
        let sample = BackgroundPace.Sample(
            now: now, roundTrip: roundTrip, base: base,
            moved: entry.preference.sends ? facts.acknowledged : facts.received, segment: facts.segment)
        _ = entry.pace.take(sample)
        if entry.preference.sends {
            socket.setPace(entry.pace.pace(roundTrip: roundTrip))
        } else {
            socket.setReceiveWindow(entry.pace.window)
        }
    }
}

extension SocketSteering.Preference {
    /// The least bytes of a body for which its connection is checked.
    private static let leastSteered: Int64 = 256 << 10

    /// Determines the steering of an exchange.
    fileprivate init(of exchange: ActiveExchange) {
        let settings = exchange.request.settings
        sends = exchange.files?.sends ?? (exchange.hop?.sendsBody == true)
        isBackground = settings.isBackground
        if sends, settings.sending.congestion != .system, exchange.body.length ?? .max >= Self.leastSteered {
            congestion = settings.sending.congestion
        }
    }
}

extension MonotonicTime {
    /// The seconds since the machine's start.
    fileprivate var seconds: Double { Double(nanoseconds) / 1e9 }
}
