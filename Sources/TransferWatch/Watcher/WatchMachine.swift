import TransferCore

/// The state machine of a watcher: the rules for watching one folder as a pure value, without system calls. It decides
/// the next step and the events to report.
///
/// The shell performs one ``Step`` at a time and returns its outcome, passes in events of inotify(7), and offers
/// batches to the consumer. The memory holds only the folder tree, the unsettled files, one waiting batch and one
/// offered batch, whatever the number of files.
struct WatchMachine: Sendable {
    struct Options: Sendable {
        var rules = WatchRules()
        var settle = Duration.seconds(2)
        var order = WatchOrder.oldest
        var capacity = 256
        var unsettled = 8192
        var pollInterval = Duration.seconds(10)
        var polls = false
        /// The time before which files are old, in nanoseconds since 1970.
        var since: Int64?
    }

    /// A step that the shell has to do; one at a time.
    enum Step: Sendable, Hashable {
        /// Opens a folder, and watches it if requested. The outcome is `began` or `failed`.
        case begin(FolderTree.ID, path: String, watches: Bool)
        /// Continues to read the opened folder, with a limit on the entries. The outcome is `read`.
        case read(FolderTree.ID, limit: Int)
        /// Inspects files. The outcome is `looked`.
        case look([String])
        /// Returns the folder that is at a path. The outcome is `identified`.
        case identify(FolderTree.ID, path: String)
    }

    /// The outcome of opening a folder.
    struct Beginning: Sendable, Hashable {
        enum Watch: Sendable, Hashable {
            case set(Int32)
            case refused(WatchRefusal)
            /// No watch was requested, or it would be useless.
            case none
        }

        var identity: FolderIdentity
        /// The name of a file system that does not report changes made elsewhere.
        var remoteFileSystem: String?
        var watch: Watch
    }

    /// Some entries of a folder.
    struct Entries: Sendable, Hashable {
        enum End: Sendable, Hashable {
            case more, end
            case failed(TransferError)
        }

        var files: [Found] = []
        var folders: [String] = []
        /// The names of links that lead out of the watched folder.
        var links: [String] = []
        /// The names that are not UTF-8.
        var brokenNames: [String] = []
        var end = End.more

        struct Found: Sendable, Hashable {
            var name: String
            var look: FileLook
        }
    }

    struct Conflict: Sendable, Hashable {
        var folder: FolderTree.ID
        var other: FolderTree.ID
        var watch: Int32
    }

    /// The times at which known folders are read again.
    struct Rereading: Sendable {
        /// The time to read polled folders.
        var nextPoll: MonotonicTime?
        /// The time to read all folders, if events were lost too often to do that at once.
        var rescanDue: MonotonicTime?
        var pace: RescanPace
    }

    /// The state at the last turn and the last step.
    private struct Last: Sendable {
        var isQuiet = false
        /// The number of open files in the last report of being caught up.
        var written = 0
        var isLook = false
    }

    /// The most entries that are read in one step.
    static let entriesPerStep = 256
    static let looksPerStep = 128
    /// The most names of open files in a report.
    static let namedUnfinished = 8

    let options: Options
    var tree = FolderTree()
    var settling: SettleMachine
    var waiting: WaitingFiles
    var moves = FolderMoves()
    var seen = SeenVersions()
    /// The folder that is being read.
    var reading: FolderTree.ID?
    var conflict: Conflict?
    /// Whether the kernel refused a watch; none is requested until the next poll.
    var isOutOfWatches = false
    var rereading: Rereading
    var endedWatches: [Int32] = []
    var notices: [WatchEvent] = []
    /// The files of the last step that are older than ``Options/since``.
    var old: [FileVersion] = []
    var reported = ReportedOnce()
    /// Whether all folders have been read, so that later ones are new.
    var hasReadThrough = false
    private var last = Last()

    /// Creates the machine.
    ///
    /// - Parameter refusal: The reason why there is no event queue, unless polling was requested.
    init(options: Options, refusal: WatchRefusal? = nil) {
        self.options = options
        settling = SettleMachine(settle: options.settle, capacity: options.unsettled)
        waiting = WaitingFiles(capacity: options.capacity, order: options.order)
        rereading = Rereading(pace: RescanPace(longest: options.pollInterval))
        if options.polls { tell(.polling(refusal.map { .limit($0.error) } ?? .asked), once: "polls") }
        tree.markDirty(FolderTree.root)
    }

    /// The number of files that are held in memory now.
    var heldFiles: Int { settling.count + waiting.count }

    // MARK: The next action

    /// Notes the passing of time.
    mutating func turn(at now: MonotonicTime) {
        for departure in moves.expire(at: now) { forget(departure.folder) }
        if let due = rereading.nextPoll, due <= now {
            rereading.nextPoll = nil
            isOutOfWatches = false
            seen.beginPass()
            tree.markAllDirty(where: \.isPolled)
        }
        if let due = rereading.rescanDue, due <= now { rescanAfterOverflow(at: now) }
        let isReadThrough = tree.dirtyCount == 0 && reading == nil && conflict == nil && rereading.rescanDue == nil
        if isReadThrough { hasReadThrough = true }
        if isReadThrough, rereading.nextPoll == nil, tree.polledCount > 0 {
            rereading.nextPoll = now + options.pollInterval
        }
        let isQuiet = isReadThrough && settling.unsettled == 0 && waiting.isEmpty && moves.isEmpty
        if isQuiet, !last.isQuiet || last.written != settling.written {
            notices.append(
                .caughtUp(
                    WatchSummary(
                        folders: tree.count, polledFolders: tree.polledCount, unfinished: settling.written,
                        someUnfinished: settling.writtenPaths(limit: Self.namedUnfinished))))
            last.written = settling.written
        }
        last.isQuiet = isQuiet
    }

    /// Returns the step to do now; `nil` if there is none, or no room for its results. Must be called only if no step
    /// is under way.
    mutating func nextStep(at now: MonotonicTime) -> Step? {
        if let conflict {
            if let path = tree.path(of: conflict.other) { return .identify(conflict.other, path: path) }
            // The folder is being moved, and this is its destination.
            resolve(isStillThere: false)
        }
        guard waiting.roomForNews > 0 else { return nil }
        // Inspections and readings alternate, so that neither blocks the other.
        let steps: [(inout Self, MonotonicTime) -> Step?] = [
            { $0.nextLook(at: $1) }, { machine, _ in machine.nextReading() },
        ]
        for next in last.isLook ? steps.reversed() : steps {
            guard let step = next(&self, now) else { continue }
            if case .look = step { last.isLook = true } else { last.isLook = false }
            return step
        }
        return nil
    }

    private mutating func nextLook(at now: MonotonicTime) -> Step? {
        let paths = settling.dueLooks(at: now, limit: min(waiting.roomForNews, Self.looksPerStep))
        return paths.isEmpty ? nil : .look(paths)
    }

    private mutating func nextReading() -> Step? {
        // Reading waits for room for several files, to avoid steps of single files.
        guard waiting.room > 0, settling.room >= min(Self.entriesPerStep, settling.capacity / 2 + 1) else {
            return nil
        }
        if let reading { return .read(reading, limit: min(waiting.room, settling.room, Self.entriesPerStep)) }
        while let id = tree.popDirty() {
            // A folder that is being moved is read after its arrival.
            guard let path = tree.path(of: id) else { continue }
            reading = id
            return .begin(id, path: path, watches: !options.polls && (!isOutOfWatches || tree[id]?.watch != nil))
        }
        return nil
    }

    /// Returns a batch for the consumer if one is due: it is full, no more files are being found, or it has waited for
    /// the settle time. `answered` must follow.
    mutating func nextOffer(at now: MonotonicTime) -> [FileVersion]? {
        guard waiting.canOffer else { return nil }
        let isFinding = reading != nil || tree.dirtyCount > 0
        guard !isFinding || waiting.room == 0 || offerDue.map({ $0 <= now }) == true else { return nil }
        return waiting.offer()
    }

    private var offerDue: MonotonicTime? {
        waiting.canOffer ? waiting.since.map { $0 + options.settle } : nil
    }

    /// The time of the next turn if there are no events before.
    var nextDue: MonotonicTime? {
        let looks = waiting.roomForNews > 0 ? settling.nextDue : nil
        return [looks, offerDue, moves.nextExpiry, rereading.nextPoll, rereading.rescanDue].lazy.compactMap { $0 }.min()
    }

    // MARK: The consumer

    mutating func answered(handled: Int, at now: MonotonicTime) {
        let done = waiting.answered(handled: handled, at: now)
        // Watched folders are read again only after an overflow, and then the consumer may be asked again.
        if tree.polledCount > 0 { for version in done { seen.insert(version) } }
    }

    mutating func proceed() { waiting.proceed() }

    /// Settles the files again, whether they are new or have been handled.
    mutating func look(at paths: [String], now: MonotonicTime) {
        for path in paths where options.rules.takes(file: path) && !settling.settleAgain(path, at: now) {
            // The file is found by reading, like others without room.
            if let folder = tree.folder(at: PathText.folder(path)) { tree.markDirty(folder) }
        }
    }

    /// Marks all folders to be read again.
    mutating func rescan() { tree.markAllDirty() }

    // MARK: Reports

    mutating func tell(_ event: WatchEvent, once subject: String) {
        if reported.isNew(subject) { notices.append(event) }
    }

    mutating func takeOld() -> [FileVersion] {
        defer { old = [] }
        return old
    }

    mutating func takeNotices() -> [WatchEvent] {
        defer { notices = [] }
        return notices
    }

    /// Returns the watches that are no longer needed.
    mutating func takeEndedWatches() -> [Int32] {
        defer { endedWatches = [] }
        return endedWatches
    }
}

/// The reports that are made only once. After a thousand subjects, no more are made.
struct ReportedOnce: Sendable {
    private var subjects: Set<Int> = []

    /// Notes a subject, and returns whether it is new.
    ///
    /// - Parameter subject: The subject, including its path if it has one.
    mutating func isNew(_ subject: String) -> Bool {
        subjects.count < 1000 && subjects.insert(PathKey(subject).hashValue).inserted
    }
}
