import DequeModule
import Synchronization

/// A limit for a session's simultaneous transfers with one host. Further transfers wait in their order.
final class HostSlots: Sendable {
    /// The most requests at a time over one HTTP/2 connection, as servers commonly permit it. RFC 9113 §6.5.2
    /// recommends no smaller value.
    static let multiplexedLimit = 100

    private struct Host {
        var taken = 0
        var isMultiplexed = false
        var waiting: Deque<@Sendable (HostSlot) -> Void> = []
    }

    private let limit: Int
    private let hosts = Mutex<[Substring: Host]>([:])

    init(limit: Int) { self.limit = limit }

    /// Calls `admitted` as soon as there is a slot. The call may come at once, or on the thread that released a slot.
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

    /// Notes that the host speaks HTTP/2, so that many requests share one connection.
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
            // The next transfer in the queue takes the slot over.
            if let next = hosts.values[index].waiting.popFirst() { return next }
            hosts.values[index].taken -= 1
            // A host that is known to multiplex stays in the table.
            if hosts.values[index].taken == 0, !hosts.values[index].isMultiplexed { hosts.remove(at: index) }
            return nil
        }
        next?(HostSlot(key: key, slots: self))
    }

    private func limit(of host: Host) -> Int {
        host.isMultiplexed ? max(limit, Self.multiplexedLimit) : limit
    }
}

/// The slot of one transfer at its host; the last reference's end releases it.
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
