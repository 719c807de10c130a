import TransferCore

/// The folders that were moved away and may return under another name. `IN_MOVED_FROM` and `IN_MOVED_TO` have the same
/// cookie, and follow each other closely if both occur (inotify(7), "Dealing with rename() events").
struct FolderMoves: Sendable {
    struct Departure: Sendable {
        var folder: FolderTree.ID
        var files = SettleMachine.MovedEntries()
        var until: MonotonicTime
    }

    /// The wait for the second event. The kernel queues both at once, so that only a read can separate them.
    static let patience = Duration.milliseconds(100)

    private var departures: [UInt32: Departure] = [:]

    var isEmpty: Bool { departures.isEmpty }
    var nextExpiry: MonotonicTime? { departures.values.lazy.map(\.until).min() }

    mutating func depart(
        _ folder: FolderTree.ID, with files: SettleMachine.MovedEntries, cookie: UInt32, at now: MonotonicTime
    ) -> Departure? {
        let departure = Departure(folder: folder, files: files, until: now + Self.patience)
        return departures.updateValue(departure, forKey: cookie)
    }

    mutating func arrive(cookie: UInt32) -> Departure? { departures.removeValue(forKey: cookie) }

    /// Returns the folders that have moved elsewhere.
    mutating func expire(at now: MonotonicTime) -> [Departure] {
        let gone = departures.filter { $0.value.until <= now }
        for cookie in gone.keys { departures[cookie] = nil }
        return gone.values.sorted { $0.folder < $1.folder }
    }

    mutating func removeAll() -> [Departure] {
        defer { departures.removeAll() }
        return departures.values.sorted { $0.folder < $1.folder }
    }
}
