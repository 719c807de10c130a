import Synchronization
import TransferCore
import TransferEventLoop

/// The hosts to which large segments may vanish, because the path's maximum is smaller and no router reports it (RFC
/// 4821 §7.2). The pools of an engine share this memory, because the next connection to a host may belong to another
/// pool.
final class SmallSegments: Sendable {
    private struct Host {
        /// The time until which new connections use small segments.
        var end: MonotonicTime
        /// The time until which kept connections are not used, because their segments are large.
        var freshEnd: MonotonicTime?
        var isProven = false
    }

    /// The way in which a connection to a host is made.
    struct Use: Equatable {
        var isSmall = false
        var isNew = false
    }

    private static let lasting = Duration.seconds(600)
    private static let doubt = Duration.seconds(30)
    private static let most = 1024

    private let hosts = Mutex<[String: Host]>([:])

    func use(for host: String, now: MonotonicTime = .now) -> Use {
        hosts.withLock { hosts in
            guard let found = hosts[host] else { return Use() }
            guard found.end > now else {
                hosts[host] = nil
                return Use()
            }
            return Use(isSmall: true, isNew: found.freshEnd.map { $0 > now } ?? false)
        }
    }

    /// Returns whether large segments to the host were lost, and small ones are used since.
    func isProven(_ host: String, now: MonotonicTime = .now) -> Bool {
        hosts.withLock { hosts in hosts[host].map { $0.isProven && $0.end > now } ?? false }
    }

    /// Notes that large segments to the host vanish.
    ///
    /// - Parameter isProven: Whether large segments were lost. Otherwise their loss is only assumed, for a shorter
    ///   time.
    func note(_ host: String, isProven: Bool, now: MonotonicTime = .now) {
        hosts.withLock { hosts in
            if hosts.count >= Self.most { hosts = hosts.filter { $0.value.end > now } }
            let end = now + (isProven ? Self.lasting : Self.doubt)
            var found = hosts[host] ?? Host(end: end)
            found.end = max(found.end, end)
            if isProven { (found.isProven, found.freshEnd) = (true, now + Self.doubt) }
            hosts[host] = found
        }
    }
}
