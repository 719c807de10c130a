import CTransferCurl
import Synchronization
public import TransferCore
import TransferEventLoop

/// The kernel's measurement of the path to a server, over all connections that bring one file.
///
/// Exchanges add to it on their loops. The code that decides about the number of connections reads it from any thread.
public final class PathMeter: Sendable {
    private struct State {
        /// The shortest round trip in microseconds; `nil` before the first reading.
        var roundTrip: UInt32?
        var delay: UInt32 = 0
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
            defer { state.delay = 0 }
            return PathReading(
                roundTrip: Double(roundTrip) / 1e6, delay: Double(state.delay) / 1e6, disordered: state.disordered)
        }
    }

    fileprivate func add(_ path: transfer_path, disordered: UInt32) {
        state.withLock { state in
            var least = state.roundTrip ?? path.least_round_trip
            for time in [path.least_round_trip, path.received_round_trip] where time > 0 { least = min(least, time) }
            state.roundTrip = least
            // The receiver's measure is in milliseconds.
            if path.received_round_trip > least { state.delay = max(state.delay, path.received_round_trip - least) }
            state.disordered += Int64(disordered)
        }
    }
}

/// A reader of one connection for a ``PathMeter``, some twenty times a second.
struct PathReader {
    private static let interval = Duration.milliseconds(50)

    private let meter: PathMeter
    private var next: MonotonicTime
    private var socket: Int32 = -1
    /// The count that was already added for the connection.
    private var disordered: UInt32 = 0

    init(_ meter: PathMeter) {
        self.meter = meter
        next = .now
    }

    /// Notes that bytes of the answer came over `socket`.
    mutating func received(over socket: Int32) {
        let now = MonotonicTime.now
        guard now >= next, socket >= 0 else { return }
        next = now + Self.interval
        var path = transfer_path()
        guard transfer_path_of(socket, &path) == 0, path.least_round_trip != .max else { return }
        // An earlier loss of the connection belongs to another transfer.
        if socket != self.socket { (self.socket, disordered) = (socket, path.disordered) }
        meter.add(path, disordered: path.disordered &- disordered)
        disordered = path.disordered
    }
}
