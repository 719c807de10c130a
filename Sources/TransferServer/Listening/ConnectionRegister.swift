import NIOCore
import Synchronization

/// The open connections, of which there is a maximum. A connection beyond it displaces the one that has sent no complete
/// request for longest, so that silent connections lock no client out.
///
/// A connection whose client has shown a secret is displaced only where no other can be.
final class ConnectionRegister: Sendable {
    private struct Entry {
        let channel: any Channel
        /// The position in the order of silence; `nil` while a request is answered.
        var silentSince: UInt64?
        var isTrusted = false
    }

    private struct State {
        var entries: [ObjectIdentifier: Entry] = [:]
        var clock: UInt64 = 0

        mutating func tick() -> UInt64 {
            clock += 1
            return clock
        }
    }

    private let state = Mutex(State())
    private let most: Int

    /// Creates a register.
    ///
    /// - Parameter most: The maximum number of connections.
    init(most: Int) { self.most = most }

    /// Adds a connection, and displaces another one where necessary.
    ///
    /// - Returns: Whether there is a place for it; the caller closes a connection without a place.
    func admit(_ channel: any Channel) -> Bool {
        let (isAdmitted, displaced) = state.withLock { state -> (Bool, (any Channel)?) in
            var displaced: (any Channel)?
            if state.entries.count >= most {
                guard let key = Self.displaceable(state.entries) else { return (false, nil) }
                displaced = state.entries.removeValue(forKey: key)?.channel
            }
            let since = state.tick()
            state.entries[ObjectIdentifier(channel)] = Entry(channel: channel, silentSince: since)
            return (true, displaced)
        }
        displaced?.close(promise: nil)
        if isAdmitted { channel.closeFuture.whenComplete { [weak self] _ in self?.remove(channel) } }
        return isAdmitted
    }

    private static func displaceable(_ entries: [ObjectIdentifier: Entry]) -> ObjectIdentifier? {
        var best: (key: ObjectIdentifier, isTrusted: Bool, since: UInt64)?
        for (key, entry) in entries {
            guard let since = entry.silentSince else { continue }
            if let best, (best.isTrusted ? 1 : 0, best.since) <= (entry.isTrusted ? 1 : 0, since) { continue }
            best = (key, entry.isTrusted, since)
        }
        return best?.key
    }

    /// Notes that a complete request has come, which is being answered.
    func answers(_ channel: any Channel) {
        state.withLock { $0.entries[ObjectIdentifier(channel)]?.silentSince = nil }
    }

    /// Notes that the response has been sent.
    func isSilent(_ channel: any Channel) {
        state.withLock { state in
            let since = state.tick()
            state.entries[ObjectIdentifier(channel)]?.silentSince = since
        }
    }

    /// Notes that the client has shown a secret.
    func trust(_ channel: any Channel) {
        state.withLock { $0.entries[ObjectIdentifier(channel)]?.isTrusted = true }
    }

    private func remove(_ channel: any Channel) {
        _ = state.withLock { $0.entries.removeValue(forKey: ObjectIdentifier(channel)) }
    }

    /// The number of open connections.
    var count: Int { state.withLock { $0.entries.count } }
}
