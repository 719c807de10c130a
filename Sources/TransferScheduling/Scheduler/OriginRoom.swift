package import TransferCore

/// How many jobs an origin takes at a time, where it has refused one because of the others (FTP's "too many users").
///
/// Each refusal takes a place away, down to one; every minute without gives one back, as the others of a server come and
/// go too.
package struct OriginRoom: Sendable, Equatable {
    package private(set) var places: Int
    private var changed: MonotonicTime

    package static let growth: Duration = .seconds(60)

    /// - Parameter others: Jobs that are there, without the one that was refused.
    package init(others: Int, now: MonotonicTime) {
        places = max(1, others)
        changed = now
    }

    package mutating func refused(others: Int, now: MonotonicTime) {
        places = max(1, min(places, others))
        changed = now
    }

    /// - Returns: Those that bound anything yet.
    ///
    /// - Parameter limit: How many jobs an origin gets otherwise.
    package static func grown(
        _ rooms: [String: OriginRoom], now: MonotonicTime, limit: (String) -> Int
    ) -> [String: OriginRoom] {
        guard !rooms.isEmpty else { return rooms }
        return rooms.mapValues { $0.grown(now) }.filter { $0.value.places < limit($0.key) }
    }

    private func grown(_ now: MonotonicTime) -> OriginRoom {
        var room = self
        while now - room.changed >= Self.growth {
            room.places += 1
            room.changed = room.changed + Self.growth
        }
        return room
    }
}
