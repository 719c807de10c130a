import TransferCore

/// The state machine that finds out which files are finished. A pure value: it takes events, and decides when to
/// inspect which file.
///
/// A file is taken when it was closed after writing or moved in, and has been quiet for the settle time. A file from a
/// scan is taken when it has been unchanged for that time and no process is known to have it open for writing. Only
/// unsettled files are held: at most ``capacity``, and as many that were requested by name.
///
/// Single writes cause no event. The inspection at the end of the settle time shows by the file's times whether it was
/// written meanwhile. A slowly written file thus wakes no process.
struct SettleMachine: Sendable {
    enum Event: Sendable, Hashable {
        /// The file was made and may be being written. Its closing will follow, except for a link, which is never
        /// closed.
        case made
        case closedAfterWriting
        case movedIn
        /// The file was found by a scan.
        case found(FileLook)
        /// The file was deleted or moved away.
        case gone
        /// The result of an inspection; `nil` if there is no regular file.
        case looked(FileLook?)
    }

    enum Action: Sendable, Hashable {
        case none
        case take(FileVersion)
        /// There is no room for another file: its folder has to be read again later.
        case full
    }

    fileprivate enum Sighting: Sendable, Hashable {
        case made
        /// The file was closed after writing, or moved in.
        case closed
        /// The closing was not observed, or the file has changed since. The value is its state one settle time before
        /// the next inspection.
        case seen(FileLook)
        /// A process has the file open. Its closing causes an event, except through another name, so it is inspected at
        /// growing intervals.
        case written(looks: Int)
    }

    private struct Entry: Sendable {
        var sighting: Sighting
        /// The time of the next inspection, in quanta; `nil` while one is under way.
        var slot: Int64?
    }

    /// The most files that are held; files that are being written are counted separately.
    let capacity: Int
    private let settle: Duration
    private let mostWritten: Int
    /// The distance between times of inspections, in nanoseconds: a sixteenth of the settle time. Inspections are
    /// grouped by it.
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

    /// Returns the paths of some files that a process has open for writing, sorted.
    func writtenPaths(limit: Int) -> [String] {
        guard written > 0 else { return [] }
        let paths = entries.lazy.filter { if case .written = $0.value.sighting { true } else { false } }.map(\.key.text)
        return Array(paths.sorted().prefix(limit))
    }

    /// The number of files that are about to be taken.
    var unsettled: Int { entries.count - written }

    var room: Int { max(0, capacity - unsettled) }

    /// The time at which ``dueLooks(at:limit:)`` next returns a file.
    var nextDue: MonotonicTime? { slots.keys.min().map { MonotonicTime(nanoseconds: $0 * quantum) } }

    mutating func event(_ event: Event, _ path: String, at now: MonotonicTime) -> Action {
        switch event {
        case .made: return wait(.made, path, now)
        case .closedAfterWriting, .movedIn: return wait(.closed, path, now)
        case .found(let look):
            // The file is already known by events, which say more.
            guard entries[PathKey(path)] == nil else { return .none }
            return judge(look, path, now)
        case .gone:
            remove(path)
            return .none
        case .looked(let look):
            // Another event has come meanwhile, and another inspection is due.
            guard let entry = entries[PathKey(path)], entry.slot == nil else { return .none }
            guard let look else {
                remove(path)
                return .none
            }
            return looked(look, path, after: entry.sighting, now)
        }
    }

    /// Settles a file that a caller requested, even without room for further found files, because no other event may
    /// bring it back.
    ///
    /// - Returns: Whether it was noted: at most ``capacity`` of such files are held as well.
    mutating func settleAgain(_ path: String, at now: MonotonicTime) -> Bool {
        if entries[PathKey(path)] != nil { return true }
        guard unsettled < 2 * capacity else { return false }
        put(path, .closed, at: now + settle)
        return true
    }

    /// Returns the files to inspect now; each must get a `looked` event.
    mutating func dueLooks(at now: MonotonicTime, limit: Int) -> [String] {
        var paths: [String] = []
        while paths.count < limit, let slot = slots.keys.min(), slot * quantum <= now.nanoseconds {
            var waiting = slots.removeValue(forKey: slot) ?? []
            while paths.count < limit, let path = waiting.popLast() {
                // The inspection was put off since, or the file is gone.
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

    /// Removes the files of a folder that is gone or will return under another name.
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

    /// Adds the files of a moved folder, which continue to settle with their known facts.
    mutating func add(_ movedEntries: MovedEntries, folder: String, at now: MonotonicTime) {
        for (rest, sighting) in movedEntries.observations { put(folder + rest, sighting, at: now + settle) }
    }

    // MARK: Rules

    private mutating func looked(
        _ look: FileLook, _ path: String, after sighting: Sighting, _ now: MonotonicTime
    ) -> Action {
        switch sighting {
        case .made where look.isWritten == nil && !look.hasOtherNames:
            // The writer is not known to have closed the file; the closing will cause an event.
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

    /// Judges a file by this inspection alone.
    private mutating func judge(_ look: FileLook, _ path: String, _ now: MonotonicTime) -> Action {
        if look.isWritten == true {
            // If there is no room, the closing brings the file back in nearly all cases.
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
        // The time is rounded up, so that the inspection is never early.
        let slot = (due.nanoseconds + quantum - 1) / quantum
        entries[key] = Entry(sighting: sighting, slot: slot)
        if before?.slot != slot { slots[slot, default: []].append(path) }
    }

    private mutating func remove(_ path: String) {
        count(entries.removeValue(forKey: PathKey(path))?.sighting, -1)
        // The file's entry in a slot is ignored when that is due.
    }

    private mutating func count(_ sighting: Sighting?, _ change: Int) {
        if case .written = sighting { written += change }
    }
}
