import TransferCore

/// Folders that were moved away and perhaps come in again under another name: `IN_MOVED_FROM` and `IN_MOVED_TO` have the
/// same cookie, and come one soon after the other, if both come (inotify(7), "Dealing with rename() events").
struct FolderMoves: Sendable {
    struct Departure: Sendable {
        var folder: FolderTree.ID
        var files = SettleMachine.MovedEntries()
        var until: MonotonicTime
    }

    /// How long the other half is waited for: they are put in the queue at once, so that only a reader could come
    /// between them.
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

    /// Folders that went elsewhere.
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
