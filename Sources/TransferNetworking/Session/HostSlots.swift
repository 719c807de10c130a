import DequeModule
import Synchronization

/// Bounds how many transfers of a session one host has at a time; the others wait in the order in which they came.
final class HostSlots: Sendable {
    /// Requests at a time over one HTTP/2 connection: what servers commonly allow (RFC 9113 §6.5.2 recommends no less).
    static let multiplexedLimit = 100

    private struct Host {
        var taken = 0
        var isMultiplexed = false
        var waiting: Deque<@Sendable (HostSlot) -> Void> = []
    }

    private let limit: Int
    private let hosts = Mutex<[Substring: Host]>([:])

    init(limit: Int) { self.limit = limit }

    /// Calls `admitted` as soon as there is room, perhaps at once, and perhaps on the thread that made room.
    func enter(_ key: Substring, admitted: @escaping @Sendable (HostSlot) -> Void) {
        let isFree = hosts.withLock { hosts in
            guard let index = hosts.index(forKey: key) else {
                hosts[key] = Host(taken: 1)
                return true
            }
            guard hosts.values[index].taken < limit(of: hosts.values[index]) else {
                hosts.values[index].waiting.append(admitted)
                return false
            }
            hosts.values[index].taken += 1
            return true
        }
        if isFree { admitted(HostSlot(key: key, slots: self)) }
    }

    /// The host speaks HTTP/2: many requests share one connection.
    func multiplexes(_ key: Substring) {
        let next = hosts.withLock { hosts -> [@Sendable (HostSlot) -> Void] in
            guard var host = hosts[key], !host.isMultiplexed else { return [] }
            host.isMultiplexed = true
            var admitted: [@Sendable (HostSlot) -> Void] = []
            while host.taken < limit(of: host), let first = host.waiting.popFirst() {
                host.taken += 1
                admitted.append(first)
            }
            hosts[key] = host
            return admitted
        }
        for admitted in next { admitted(HostSlot(key: key, slots: self)) }
    }

    fileprivate func leave(_ key: Substring) {
        let next = hosts.withLock { hosts -> (@Sendable (HostSlot) -> Void)? in
            guard let index = hosts.index(forKey: key) else { return nil }
            // Whoever is next takes the place over.
            if let next = hosts.values[index].waiting.popFirst() { return next }
            hosts.values[index].taken -= 1
            // One that is known to multiplex is remembered.
            if hosts.values[index].taken == 0, !hosts.values[index].isMultiplexed { hosts.remove(at: index) }
            return nil
        }
        next?(HostSlot(key: key, slots: self))
    }

    private func limit(of host: Host) -> Int {
        host.isMultiplexed ? max(limit, Self.multiplexedLimit) : limit
    }
}

/// One transfer's room at its host; given back when nobody holds it any more.
final class HostSlot: Sendable {
    private let key: Substring
    private let slots: HostSlots

    fileprivate init(key: Substring, slots: HostSlots) {
        self.key = key
        self.slots = slots
    }

    deinit { slots.leave(key) }

    func hostMultiplexes() { slots.multiplexes(key) }
}
