import Glibc
import Testing

@testable import TransferCore

/// A link with a server behind it, over which connections fetch one file. Each grows like TCP with CUBIC (RFC 9438),
/// and all share the rate and the queue. Time is simulated, and randomness is seeded.
struct SimulatedLink: CustomTestStringConvertible, Sendable {
    let testDescription: String
    /// The round-trip time in seconds, without the queue.
    var roundTrip = 0.1
    /// The share of segments that are lost by chance.
    var loss = 0.0
    /// The rate in bytes a second.
    var rate = 12.5e6
    /// The capacity of the queue before the link in bytes. Excess bytes are lost.
    var queue = 256e3
    /// The server's rates in bytes a second: for each connection after `burst` bytes, and for all connections.
    var each = Double.infinity
    var burst = 0.0
    var total = Double.infinity
    /// The number of connections that the server accepts.
    var accepts = Int.max
    var size = 20e6
    /// Whether the kernel reports round trips and losses.
    var isSeen = true
    /// The share of time for which the receiver's thread is busy.
    var load = 0.0

    init(_ name: String, _ set: (inout SimulatedLink) -> Void) {
        testDescription = name
        set(&self)
    }

    struct Run {
        var seconds = 0.0
        var most = 1
        /// The number of connections at the end.
        var last = 1
    }

    private static let segment = 1448.0

    private struct Connection {
        /// The time at which the first bytes of the answer arrive.
        let begins: Double
        let isRefused: Bool
        /// The segments in flight.
        var window = 10.0
        var threshold = Double.infinity
        var windowBefore = 0.0
        /// The time of the last loss.
        var lost = -1.0
        var given = 0.0
        /// The bytes behind a gap, which are delivered once it is filled.
        var held = 0.0

        mutating func lose(_ now: Double) {
            windowBefore = window
            window = max(2, window * 0.7)
            threshold = window
            lost = now
        }

        mutating func grow(_ step: Double, _ roundTrip: Double, _ delay: Double, _ base: Double, _ now: Double) {
            guard window >= threshold else {
                window *= pow(2, step / roundTrip)
                // HyStart (RFC 9406): a queue ends the slow start.
                if delay > max(0.004, base / 8), window > 16 { (threshold, windowBefore, lost) = (window, window, now) }
                return
            }
            let inflection = cbrt(windowBefore * 0.3 / 0.4)
            let cubic = 0.4 * pow(now - lost - inflection, 3) + windowBefore
            window = max(min(cubic, window * 1.5), window + 0.53 * step / roundTrip)
        }
    }

    /// - Parameters:
    ///   - fixed: The user's number of connections; `nil` for the automatic one.
    ///   - bound: The simulated seconds after which the run is abandoned.
    func run(_ fixed: Int? = nil, seed: UInt64, bound: Double = 2000) -> Run {
        var random = SplitMix(state: seed)
        var growth = ConnectionGrowth(fixed.map { .exactly($0) } ?? .automatic)
        var connections = [Connection(begins: roundTrip * 2, isRefused: false)]
        var (now, bytes, waiting, delay) = (0.0, 0.0, 0.0, 0.0)
        var losses: Int64 = 0
        var look = roundTrip * 2
        var run = Run()
        let step = min(0.01, roundTrip / 4)
        while bytes < size, now < bound {
            now += step
            let behind = waiting / rate
            delay = max(delay, behind)
            let trip = roundTrip + behind
            var offered = [Double](repeating: 0, count: connections.count)
            for index in connections.indices where now >= connections[index].begins && !connections[index].isRefused {
                var pace = connections[index].window * Self.segment / trip
                if connections[index].given > burst { pace = min(pace, each) }
                offered[index] = pace * step
                connections[index].grow(step, trip, behind, roundTrip, now)
                let chance = 1 - pow(1 - loss, offered[index] / Self.segment)
                if now - connections[index].lost > trip, Double.random(in: 0..<1, using: &random) < chance {
                    connections[index].lose(now)
                    losses += 1
                }
            }
            let sum = offered.reduce(0, +)
            let room = min(rate, total) * step
            let through = min(sum + waiting, room)
            waiting += sum - through
            if waiting > queue {
                waiting = queue
                for index in connections.indices where offered[index] > 0 && now - connections[index].lost > trip {
                    guard Double.random(in: 0..<1, using: &random) < 0.6 else { continue }
                    connections[index].lose(now)
                    losses += 1
                }
            }
            // Under the server's own limit no bytes queue at the link.
            if total.isFinite { waiting = 0 }
            for index in connections.indices where offered[index] > 0 {
                let share = through * offered[index] / sum
                connections[index].given += share
                connections[index].held += share
                guard now - connections[index].lost > trip else { continue }
                bytes += connections[index].held
                connections[index].held = 0
            }
            guard now >= look else { continue }
            look += 0.05
            tick(
                &growth, &connections, now, &bytes, PathReading(roundTrip: roundTrip, delay: delay, disordered: losses))
            delay = waiting / rate
            run.most = max(run.most, connections.count)
        }
        run.seconds = now
        run.last = connections.count
        return run
    }

    private func tick(
        _ growth: inout ConnectionGrowth, _ connections: inout [Connection], _ now: Double, _ bytes: inout Double,
        _ path: PathReading
    ) {
        for index in connections.indices.reversed()
        where connections[index].isRefused && now >= connections[index].begins {
            let working = connections.count { !$0.isRefused && $0.given > 0 }
            growth.refused(now: now, connections: connections.count, working: working)
            connections.remove(at: index)
        }
        let wanted = growth.sample(
            now: now, bytes: Int64(bytes), left: Int64(max(0, size - bytes)), worked: now * load,
            connections: connections.count, path: isSeen ? path : nil)
        while connections.count < wanted {
            connections.append(Connection(begins: now + 2 * roundTrip, isRefused: connections.count >= accepts))
        }
        while connections.count > wanted { bytes += connections.removeLast().held }
    }

    /// Returns the number that is fastest on average over the seeds, and its seconds.
    func best(_ seeds: Range<UInt64>) -> (count: Int, seconds: Double) {
        var best = (count: 16, seconds: mean(16, seeds))
        for count in [12, 8, 6, 4, 2, 1] {
            // Runs that take twice as long are not simulated to their end.
            let seconds = mean(count, seeds, bound: best.seconds * 2)
            if seconds < best.seconds { best = (count, seconds) }
        }
        return best
    }

    func mean(_ fixed: Int?, _ seeds: Range<UInt64>, bound: Double = 2000) -> Double {
        seeds.reduce(0) { $0 + run(fixed, seed: $1, bound: bound).seconds } / Double(seeds.count)
    }
}
