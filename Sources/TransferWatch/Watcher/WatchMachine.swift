import TransferCore

/// The machine that says what a watcher does next, and what it has to tell: the rules of watching one folder as a pure
/// value, without a call to the system.
///
/// The shell performs one ``Step`` at a time and gives back its outcome, hands in the events of inotify(7) as they come,
/// and offers batches to the consumer. However many files there are, what is held is a folder tree, the files that
/// haven't settled, and one batch that waits beside one that is offered.
struct WatchMachine: Sendable {
    struct Options: Sendable {
        var rules = WatchRules()
        var settle = Duration.seconds(2)
        var order = WatchOrder.oldest
        var capacity = 256
        var unsettled = 8192
        var pollInterval = Duration.seconds(10)
        var polls = false
        /// Nanoseconds since 1970.
        var since: Int64?
    }

    /// A step that the shell is to do; one at a time.
    enum Step: Sendable, Hashable {
        /// Open a folder, and watch it if that's wanted: `began` or `failed`.
        case begin(FolderTree.ID, path: String, watches: Bool)
        /// Read on in the folder that was begun, no more than so many entries: `read`.
        case read(FolderTree.ID, limit: Int)
        /// Look at files: `looked`.
        case look([String])
        /// Say which folder is at a path: `identified`.
        case identify(FolderTree.ID, path: String)
    }

    /// How a folder was begun.
    struct Beginning: Sendable, Hashable {
        enum Watch: Sendable, Hashable {
            case set(Int32)
            case refused(WatchRefusal)
            /// As it wasn't wanted, or would be of no use.
            case none
        }

        var identity: FolderIdentity
        /// The name of a file system that tells nothing of what others do.
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
        /// Links that lead out of the watched folder.
        var links: [String] = []
        /// Names that aren't UTF-8.
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

    /// The times at which folders are read that have been read before.
    struct Rereading: Sendable {
        /// Those that are polled.
        var nextPoll: MonotonicTime?
        /// All of them, where events were lost too often for that to be done at once.
        var rescanDue: MonotonicTime?
        var pace: RescanPace
    }

    /// How it was at the last turn and the last step.
    private struct Last: Sendable {
        var isQuiet = false
        /// Files that somebody had open when it was told that all was caught up.
        var written = 0
        var isLook = false
    }

    /// Entries that are read in one go.
    static let entriesPerStep = 256
    static let looksPerStep = 128
    /// Files that are named of those that somebody has open.
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
    /// No watch was to be had; none is asked for until the next poll.
    var isOutOfWatches = false
    var rereading: Rereading
    var endedWatches: [Int32] = []
    var notices: [WatchEvent] = []
    /// Files of the last step that were there before ``Options/since``.
    var old: [FileVersion] = []
    var reported = ReportedOnce()
    /// All folders have been read: those that come now are new.
    var hasReadThrough = false
    private var last = Last()

    /// - Parameter refusal: Why there is no queue of events, when polling wasn't asked for.
    init(options: Options, refusal: WatchRefusal? = nil) {
        self.options = options
        settling = SettleMachine(settle: options.settle, capacity: options.unsettled)
        waiting = WaitingFiles(capacity: options.capacity, order: options.order)
        rereading = Rereading(pace: RescanPace(longest: options.pollInterval))
        if options.polls { tell(.polling(refusal.map { .limit($0.error) } ?? .asked), once: "polls") }
        tree.markDirty(FolderTree.root)
    }

    /// Files that are held in memory now.
    var heldFiles: Int { settling.count + waiting.count }

    // MARK: What is next

    /// Time passes.
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

    /// The step to do now; `nil` when there is nothing, or no room for what it would find. Only when no step is under
    /// way.
    mutating func nextStep(at now: MonotonicTime) -> Step? {
        if let conflict {
            if let path = tree.path(of: conflict.other) { return .identify(conflict.other, path: path) }
            // The folder is being moved, and this is where to.
            resolve(isStillThere: false)
        }
        guard waiting.roomForNews > 0 else { return nil }
        // In turns, so that neither a long reading nor many looks keep the other from getting on.
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
        // Not file by file, as soon as there is room for one.
        guard waiting.room > 0, settling.room >= min(Self.entriesPerStep, settling.capacity / 2 + 1) else {
            return nil
        }
        if let reading { return .read(reading, limit: min(waiting.room, settling.room, Self.entriesPerStep)) }
        while let id = tree.popDirty() {
            // One that is being moved is read when it has arrived.
            guard let path = tree.path(of: id) else { continue }
            reading = id
            return .begin(id, path: path, watches: !options.polls && (!isOutOfWatches || tree[id]?.watch != nil))
        }
        return nil
    }

    /// A batch for the consumer, when it's time for one: it is full, nothing more is being found, or it has waited for
    /// the settle time. `answered` is awaited.
    mutating func nextOffer(at now: MonotonicTime) -> [FileVersion]? {
        guard waiting.canOffer else { return nil }
        let isFinding = reading != nil || tree.dirtyCount > 0
        guard !isFinding || waiting.room == 0 || offerDue.map({ $0 <= now }) == true else { return nil }
        return waiting.offer()
    }

    private var offerDue: MonotonicTime? {
        waiting.canOffer ? waiting.since.map { $0 + options.settle } : nil
    }

    /// The time to come again without having been told anything.
    var nextDue: MonotonicTime? {
        let looks = waiting.roomForNews > 0 ? settling.nextDue : nil
        return [looks, offerDue, moves.nextExpiry, rereading.nextPoll, rereading.rescanDue].lazy.compactMap { $0 }.min()
    }

    // MARK: The consumer

    mutating func answered(handled: Int, at now: MonotonicTime) {
        let done = waiting.answered(handled: handled, at: now)
        // Folders that are watched aren't read again but after an overflow: there the consumer may be asked again.
        if tree.polledCount > 0 { for version in done { seen.insert(version) } }
    }

    mutating func proceed() { waiting.proceed() }

    /// The files settle again, whether they are new or have been dealt with.
    mutating func look(at paths: [String], now: MonotonicTime) {
        for path in paths where options.rules.takes(file: path) && !settling.settleAgain(path, at: now) {
            // The file is found by reading, as others are for which there is no room.
            if let folder = tree.folder(at: PathText.folder(path)) { tree.markDirty(folder) }
        }
    }

    /// Everything is read anew.
    mutating func rescan() { tree.markAllDirty() }

    // MARK: Telling

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

    /// Watches that aren't needed any more.
    mutating func takeEndedWatches() -> [Int32] {
        defer { endedWatches = [] }
        return endedWatches
    }
}

/// News that has been told and isn't told again; after a thousand things nothing more is.
struct ReportedOnce: Sendable {
    private var subjects: Set<Int> = []

    /// - Parameter subject: With the path that it's about, if any.
    mutating func isNew(_ subject: String) -> Bool {
        subjects.count < 1000 && subjects.insert(PathKey(subject).hashValue).inserted
    }
}
