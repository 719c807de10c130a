import Synchronization
public import TransferCore
import TransferEventLoop

/// The kernel's measurement of the path to a server, over all connections that bring one file.
///
/// Exchanges add to it on their loops. The code that decides about the number of connections reads it from any thread.
public final class PathMeter: Sendable {
    private struct State {
        /// The shortest round trip; `nil` before the first reading.
        var roundTrip: Duration?
        var delay = Duration.zero
        var disordered: Int64 = 0
    }

    private let state = Mutex(State())

    /// Creates a meter without readings.
    public init() {}

    /// Returns the measurements so far. The longest delay covers the time since the last call.
    ///
    /// - Returns: `nil` where the kernel has reported nothing.
    public func take() -> PathReading? {
        state.withLock { state in
            guard let roundTrip = state.roundTrip else { return nil }
            defer { state.delay = .zero }
            return PathReading(
                roundTrip: roundTrip.inSeconds, delay: state.delay.inSeconds, disordered: state.disordered)
        }
    }

    fileprivate func add(least: Duration, received: Duration, disordered: Int64) {
        state.withLock { state in
            var shortest = min(state.roundTrip ?? least, least)
            if received > .zero { shortest = min(shortest, received) }
            state.roundTrip = shortest
            // The receiver's measure is one of milliseconds.
            if received > shortest { state.delay = max(state.delay, received - shortest) }
            state.disordered += disordered
        }
    }
}

/// A reader of one connection for a ``PathMeter``, some twenty times a second.
struct PathReader {
    private static let interval = Duration.milliseconds(50)

    private let meter: PathMeter
    private var next: MonotonicTime
    private var socket: Int32 = -1
    /// The number of disordered segments that was already reported for the connection.
    private var disordered: Int64 = 0

    init(_ meter: PathMeter) {
        self.meter = meter
        next = .now
    }

    /// Notes that bytes of the answer came over `socket`.
    mutating func received(over socket: Int32) {
        let now = MonotonicTime.now
        guard now >= next, socket >= 0 else { return }
        next = now + Self.interval
        guard let facts = TCPFacts(of: socket), let least = facts.leastRoundTrip, least > .zero,
            let count = facts.disordered
        else { return }
        // A loss of the connection before that belongs to another transfer.
        if socket != self.socket { (self.socket, disordered) = (socket, count) }
        meter.add(least: least, received: facts.receivedRoundTrip, disordered: max(0, count - disordered))
        disordered = count
    }
}
