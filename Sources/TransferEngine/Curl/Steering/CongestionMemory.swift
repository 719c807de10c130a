import Synchronization
import TransferCore

/// The facts that connections have shown, shared by an engine's pools.
///
/// The facts are algorithms that the kernel refuses, addresses behind a link that loses segments, and the shortest
/// round trips.
final class CongestionMemory: Sendable {
    /// The seconds for which an address is remembered. Another connection then shows again whether its link loses
    /// segments.
    private static let lasting = 600.0
    private static let most = 1024

    private struct State {
        var refusals: [String: Int32] = [:]
        var lossy: [String: Double] = [:]
        /// The shortest round trips in seconds, with the time when they were seen.
        var bases: [String: (value: Double, time: Double)] = [:]
    }

    private let state = Mutex(State())

    /// Returns the error of an algorithm.
    ///
    /// - Returns: The `errno` where the kernel has refused the algorithm before, so that it is not tried again.
    func refusal(of name: String) -> Int32? { state.withLock { $0.refusals[name] } }

    /// Notes that the kernel refused an algorithm.
    ///
    /// - Returns: Whether the refusal is new, so that the caller reports it.
    func refused(_ name: String, _ code: Int32) -> Bool {
        state.withLock { $0.refusals.updateValue(code, forKey: name) == nil }
    }

    func isLossy(_ address: String, now: Double) -> Bool {
        state.withLock { state in state.lossy[address].map { now - $0 < Self.lasting } ?? false }
    }

    func lost(_ address: String, now: Double) {
        state.withLock { state in
            if state.lossy.count >= Self.most { state.lossy = state.lossy.filter { now - $0.value < Self.lasting } }
            if state.lossy.count < Self.most { state.lossy[address] = now }
        }
    }

    /// Returns the shortest round trip to the address that any connection has seen.
    ///
    /// A connection that begins while a queue stands sees no short one itself (RFC 6817 §4.4, the advantage of the
    /// latecomer).
    func base(of address: String, _ seen: Double, now: Double) -> Double {
        state.withLock { state in
            if let known = state.bases[address], now - known.time < Self.lasting, known.value <= seen {
                return known.value
            }
            if state.bases.count >= Self.most { state.bases = [:] }
            state.bases[address] = (seen, now)
            return seen
        }
    }
}
