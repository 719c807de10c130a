import TransferCore

/// The machine that finds out which files are finished: a pure value that hears what happened to them and says when to
/// look at which.
///
/// A file is taken when it was closed after writing, or moved in, and has been quiet for the settle time; one that nobody
/// saw closed, as a scan found it, when it has been unchanged for that time and nobody is known to have it open for
/// writing. Only files that haven't settled are held: no more than ``capacity`` of them, and as many that
/// somebody asked for by name.
///
/// There is no event for each write: the look at the end of the settle time shows by the file's times whether something
/// was written meanwhile, so that a file written slowly wakes nobody.
struct SettleMachine: Sendable {
    enum Event: Sendable, Hashable {
        /// Made, and perhaps being written: its closing comes, but for a link, which nobody closes.
        case made
        case closedAfterWriting
        case movedIn
        /// By a scan.
        case found(FileLook)
        /// Deleted, or moved away.
        case gone
        /// The answer to a look; `nil` when there is no regular file.
        case looked(FileLook?)
    }

    enum Action: Sendable, Hashable {
        case none
        case take(FileVersion)
        /// There is no room for one more: what its folder holds has to be found again later.
        case full
    }

    fileprivate enum Sighting: Sendable, Hashable {
        case made
        /// Closed after writing, or moved in.
        case closed
        /// Nobody saw it closed, or it has changed since: this is what it was like a settle time before the next look.
        case seen(FileLook)
        /// Somebody has it open. The closing is told, unless that goes by another name; so it's looked at more and more
        /// seldom.
        case written(looks: Int)
    }

    private struct Entry: Sendable {
        var sighting: Sighting
        /// When it's looked at, in quanta; `nil` while that is done.
        var slot: Int64?
    }

    /// The most files that are held; those being written by somebody are counted by themselves.
    let capacity: Int
    private let settle: Duration
    private let mostWritten: Int
    /// Looks are grouped by times that are a sixteenth of the settle time apart.
    private let quantum: Int64
    private var entries: [PathKey: Entry] = [:]
    private var slots: [Int64: [String]] = [:]
    private(set) var written = 0

    init(settle: Duration, capacity: Int, mostWritten: Int = 1024) {
        self.settle = max(settle, .milliseconds(1))
        self.capacity = max(1, capacity)
        self.mostWritten = mostWritten
        let (seconds, attoseconds) = self.settle.components
        quantum = max(1_000_000, (seconds * 1_000_000_000 + attoseconds / 1_000_000_000) / 16)
    }

    var count: Int { entries.count }

    /// Paths of files that somebody has open for writing, a few of them, sorted.
    func writtenPaths(limit: Int) -> [String] {
        guard written > 0 else { return [] }
        let paths = entries.lazy.filter { if case .written = $0.value.sighting { true } else { false } }.map(\.key.text)
        return Array(paths.sorted().prefix(limit))
    }

    /// Files that are on their way to being taken.
    var unsettled: Int { entries.count - written }

    var room: Int { max(0, capacity - unsettled) }

    /// The time at which ``dueLooks(at:limit:)`` has something next.
    var nextDue: MonotonicTime? { slots.keys.min().map { MonotonicTime(nanoseconds: $0 * quantum) } }

    mutating func event(_ event: Event, _ path: String, at now: MonotonicTime) -> Action {
        switch event {
        case .made: return wait(.made, path, now)
        case .closedAfterWriting, .movedIn: return wait(.closed, path, now)
        case .found(let look):
            // Known already, and by events, which say more.
            guard entries[PathKey(path)] == nil else { return .none }
            return judge(look, path, now)
        case .gone:
            remove(path)
            return .none
        case .looked(let look):
            // Something happened to it meanwhile, and another look is due.
            guard let entry = entries[PathKey(path)], entry.slot == nil else { return .none }
            guard let look else {
                remove(path)
                return .none
            }
            return looked(look, path, after: entry.sighting, now)
        }
    }

    /// Somebody wants to have the file as it is when it's quiet, also where there is no room for what is found: perhaps
    /// nothing else brings it back.
    ///
    /// - Returns: Whether it was noted: of such files no more are held than ``capacity`` as well.
    mutating func settleAgain(_ path: String, at now: MonotonicTime) -> Bool {
        if entries[PathKey(path)] != nil { return true }
        guard unsettled < 2 * capacity else { return false }
        put(path, .closed, at: now + settle)
        return true
    }

    /// The files that are to be looked at now; each gets a `looked` event.
    mutating func dueLooks(at now: MonotonicTime, limit: Int) -> [String] {
        var paths: [String] = []
        while paths.count < limit, let slot = slots.keys.min(), slot * quantum <= now.nanoseconds {
            var waiting = slots.removeValue(forKey: slot) ?? []
            while paths.count < limit, let path = waiting.popLast() {
                // The look was put off since, or the file is gone.
                let key = PathKey(path)
                guard entries[key]?.slot == slot else { continue }
                entries[key]?.slot = nil
                paths.append(path)
            }
            if !waiting.isEmpty { slots[slot] = waiting }
        }
        return paths
    }

    /// The files of a folder that is being moved.
    struct MovedEntries: Sendable {
        fileprivate var observations: [(rest: String, sighting: Sighting)] = []
    }

    /// A folder is gone with all that is in it, or comes in again under another name.
    @discardableResult
    mutating func remove(folder: String) -> MovedEntries {
        var movedEntries = MovedEntries()
        for key in entries.keys.filter({ PathText.isInside($0.text, folder) }) {
            guard let entry = entries[key] else { continue }
            remove(key.text)
            let rest = String(Substring(key.text.utf8.dropFirst(folder.utf8.count)))
            movedEntries.observations.append((rest, entry.sighting))
        }
        return movedEntries
    }

    /// The folder's files go on settling, with the same things known about it.
    mutating func add(_ movedEntries: MovedEntries, folder: String, at now: MonotonicTime) {
        for (rest, sighting) in movedEntries.observations { put(folder + rest, sighting, at: now + settle) }
    }

    // MARK: Rules

    private mutating func looked(
        _ look: FileLook, _ path: String, after sighting: Sighting, _ now: MonotonicTime
    ) -> Action {
        switch sighting {
        case .made where look.isWritten == nil && !look.hasOtherNames:
            // The writer hasn't closed the file, as far as anybody knows: that will be told.
            remove(path)
            return .none
        case .seen(let before) where look.isWritten != true && before.stamp.isSameVersion(as: look.stamp):
            remove(path)
            return .take(look.version(path))
        case .written(let looks) where look.isWritten == true:
            put(path, .written(looks: looks + 1), at: now + settle * (1 << min(looks, 5)))
            return .none
        default:
            return judge(look, path, now)
        }
    }

    /// By this look alone.
    private mutating func judge(_ look: FileLook, _ path: String, _ now: MonotonicTime) -> Action {
        if look.isWritten == true {
            // Without room for it its closing brings it back, as for nearly every file.
            if written >= mostWritten { remove(path) } else { put(path, .written(looks: 1), at: now + settle) }
            return .none
        }
        if look.quietFor >= settle {
            remove(path)
            return .take(look.version(path))
        }
        return wait(.seen(look), path, now)
    }

    private mutating func wait(_ sighting: Sighting, _ path: String, _ now: MonotonicTime) -> Action {
        guard entries[PathKey(path)] != nil || room > 0 else { return .full }
        put(path, sighting, at: now + settle)
        return .none
    }

    // MARK: Bookkeeping

    private mutating func put(_ path: String, _ sighting: Sighting, at due: MonotonicTime) {
        let key = PathKey(path)
        let before = entries[key]
        count(before?.sighting, -1)
        count(sighting, 1)
        // Rounded up: never before the time is over.
        let slot = (due.nanoseconds + quantum - 1) / quantum
        entries[key] = Entry(sighting: sighting, slot: slot)
        if before?.slot != slot { slots[slot, default: []].append(path) }
    }

    private mutating func remove(_ path: String) {
        count(entries.removeValue(forKey: PathKey(path))?.sighting, -1)
        // The file's place in a slot is found empty when that is due.
    }

    private mutating func count(_ sighting: Sighting?, _ change: Int) {
        if case .written = sighting { written += change }
    }
}
