package import TransferCore

/// The number of jobs that an origin accepts at a time, after it refused one because of the others (FTP's "too many
/// users").
///
/// Each refusal removes a place, down to one. Every minute without a refusal adds one, because a server's other clients
/// come and go too.
package struct OriginRoom: Sendable, Equatable {
    package private(set) var places: Int
    private var changed: MonotonicTime

    package static let growth: Duration = .seconds(60)

    /// Creates the limit after a refusal.
    ///
    /// - Parameter others: The number of jobs there, without the refused one.
    package init(others: Int, now: MonotonicTime) {
        places = max(1, others)
        changed = now
    }

    package mutating func refused(others: Int, now: MonotonicTime) {
        places = max(1, min(places, others))
        changed = now
    }

    /// Adds places as time has passed.
    ///
    /// - Parameter limit: A function that returns how many jobs an origin gets otherwise.
    /// - Returns: The rooms that still limit an origin.
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
