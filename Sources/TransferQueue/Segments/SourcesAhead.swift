import TransferCore
import TransferEngine
import TransferEventLoop

/// Small files of uploads that were opened before there was a slot for them, so that one trip to a worker is for many;
/// and the folder of which the loop may open them itself.
///
/// The value is told which sources were asked for and which came.
struct SourcesAhead {
    /// The most sources that are open or on their way.
    static let size = 32
    /// A source that was read longer ago is read again: the file may be another one.
    private static let freshFor: Duration = .milliseconds(100)

    private var opened: [Int64: (result: Result<OpenedSource, TransferError>, at: MonotonicTime)] = [:]
    private var asked: Set<Int64> = []
    /// Whether the last ones were read to their ends: others are too long for a slot to be free soon.
    private(set) var areSmall = false
    private var folder: (folder: CachedFolder, at: MonotonicTime)?
    /// Whether the last one for which that was tried was opened where it was needed: then nobody need think ahead.
    private var areAtHand = false

    /// Whether workers should open more than has to be.
    var isUseful: Bool { areSmall && !areAtHand }

    var room: Int { Self.size - opened.count - asked.count }

    func knows(_ job: Int64) -> Bool { asked.contains(job) || opened[job] != nil }

    /// Whether its answer is still to come.
    func isAsked(_ job: Int64) -> Bool { asked.contains(job) }

    mutating func ask(_ job: Int64) { asked.insert(job) }

    /// Takes the source that came for a job, asked for ahead or not.
    mutating func came(_ job: Int64, _ result: Result<OpenedSource, TransferError>) {
        asked.remove(job)
        if case .success(let source) = result { areSmall = source.file.size <= OpenedSource.smallSize }
    }

    mutating func keep(_ job: Int64, _ result: Result<OpenedSource, TransferError>, now: MonotonicTime) {
        opened[job] = (result, now)
    }

    /// A worker looked for the folder of the file that it opened last; `nil` where a loop can't open others.
    mutating func found(_ folder: CachedFolder?, now: MonotonicTime) {
        self.folder = folder.map { ($0, now) }
        if folder == nil { areAtHand = false }
    }

    /// Opens a source that is in memory.
    ///
    /// - Returns: `nil` where it's for a worker. That is also so once the folder was looked for too long ago: there may be
    ///   another one of that name.
    mutating func open(_ source: UploadPreparation, now: MonotonicTime) -> Result<OpenedSource, TransferError>? {
        guard let folder, now - folder.at < Self.freshFor else {
            self.folder = nil
            return nil
        }
        let result = source.runCached(in: folder.folder)
        areAtHand = result != nil
        return result
    }

    /// - Returns: `nil` where there is nothing, or nothing that is new enough.
    mutating func take(_ job: Int64, now: MonotonicTime) -> Result<OpenedSource, TransferError>? {
        guard !opened.isEmpty, let entry = opened.removeValue(forKey: job), now - entry.at < Self.freshFor else {
            return nil
        }
        return entry.result
    }

    /// Drops the source of a job that won't start.
    mutating func drop(_ job: Int64) { opened[job] = nil }

    /// Nothing is under way: of a folder that is held nobody is told that it was deleted (inotify(7), `IN_DELETE_SELF`).
    mutating func rest() { folder = nil }

    /// Nobody knows when the jobs will start now. What is on its way is only taken by those that have.
    mutating func forget() {
        opened.removeAll()
        folder = nil
    }
}
