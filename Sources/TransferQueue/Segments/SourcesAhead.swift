import TransferCore
import TransferEngine
import TransferEventLoop

/// Small upload files that are opened before there is a slot for them, so that one trip to a worker serves many. It
/// also has the folder whose files the loop itself may open.
///
/// The value is informed of the requested and the opened sources.
struct SourcesAhead {
    /// The most sources that are open or on their way.
    static let size = 32
    /// The age after which a source is read again, because the file may have been replaced.
    private static let freshFor: Duration = .milliseconds(100)

    private var opened: [Int64: (result: Result<OpenedSource, TransferError>, at: MonotonicTime)] = [:]
    private var asked: Set<Int64> = []
    /// Whether the last sources were read whole; larger ones take too long to be worth opening ahead.
    private(set) var areSmall = false
    private var folder: (folder: CachedFolder, at: MonotonicTime)?
    /// Whether the loop itself could open the last source at its start, so that opening ahead is not needed.
    private var areAtHand = false

    /// Whether workers should open more sources than the present slots need.
    var isUseful: Bool { areSmall && !areAtHand }

    var room: Int { Self.size - opened.count - asked.count }

    func knows(_ job: Int64) -> Bool { asked.contains(job) || opened[job] != nil }

    /// Returns whether the source was requested and has not come yet.
    func isAsked(_ job: Int64) -> Bool { asked.contains(job) }

    mutating func ask(_ job: Int64) { asked.insert(job) }

    /// Takes the source that came for a job, opened ahead or not.
    mutating func came(_ job: Int64, _ result: Result<OpenedSource, TransferError>) {
        asked.remove(job)
        if case .success(let source) = result { areSmall = source.file.size <= OpenedSource.smallSize }
    }

    mutating func keep(_ job: Int64, _ result: Result<OpenedSource, TransferError>, now: MonotonicTime) {
        opened[job] = (result, now)
    }

    /// Takes the folder of the file that a worker opened last; `nil` if a loop cannot open files in it.
    mutating func found(_ folder: CachedFolder?, now: MonotonicTime) {
        self.folder = folder.map { ($0, now) }
        if folder == nil { areAtHand = false }
    }

    /// Opens a source that is cached in memory.
    ///
    /// - Returns: `nil` if a worker has to open it, or if the folder was found too long ago and may have been replaced.
    mutating func open(_ source: UploadPreparation, now: MonotonicTime) -> Result<OpenedSource, TransferError>? {
        guard let folder, now - folder.at < Self.freshFor else {
            self.folder = nil
            return nil
        }
        let result = source.runCached(in: folder.folder)
        areAtHand = result != nil
        return result
    }

    /// Takes an opened source.
    ///
    /// - Returns: `nil` if there is none that is fresh enough.
    mutating func take(_ job: Int64, now: MonotonicTime) -> Result<OpenedSource, TransferError>? {
        guard !opened.isEmpty, let entry = opened.removeValue(forKey: job), now - entry.at < Self.freshFor else {
            return nil
        }
        return entry.result
    }

    /// Drops the source of a job that will not start.
    mutating func drop(_ job: Int64) { opened[job] = nil }

    /// Releases the folder while no transfer is under way: watchers of a held folder get no notice of its deletion
    /// (inotify(7), `IN_DELETE_SELF`).
    mutating func rest() { folder = nil }

    /// Forgets the sources because the time of the next starts is unknown. Sources on their way are used only by jobs
    /// that have started.
    mutating func forget() {
        opened.removeAll()
        folder = nil
    }
}
