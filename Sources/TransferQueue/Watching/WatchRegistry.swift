import TransferCore
import TransferEngine
import TransferFolders
import TransferJobs
import TransferScheduling

/// The uploaders that watch the folders of batches.
struct WatchRegistry {
    private var uploaders: [Int64: FolderUploader] = [:]
    private var names: Set<String> = []
    /// The watched versions that were queued again because they lacked a digest.
    private var unread: Set<UnreadVersion> = []

    private static let mostUnread = 10_000

    subscript(batch: Int64) -> FolderUploader? { uploaders[batch] }

    var all: [FolderUploader] { Array(uploaders.values) }

    /// Reserves a batch's name.
    ///
    /// - Returns: Whether no uploader watches its folder here.
    mutating func reserve(_ name: String) -> Bool { names.insert(name).inserted }

    mutating func release(_ name: String) { names.remove(name) }

    /// Sets the uploader of a batch. A folder whose batch was forgotten gets another batch.
    mutating func set(_ uploader: FolderUploader, of batch: Int64) {
        if uploaders[batch] !== uploader { uploaders = uploaders.filter { $0.value !== uploader } }
        uploaders[batch] = uploader
    }

    mutating func remove(_ batch: Int64) -> FolderUploader? { uploaders.removeValue(forKey: batch) }

    /// Decides whether to queue a version again for its digest.
    ///
    /// - Returns: Whether it may be queued: only once, since a file may be openable but not readable.
    mutating func mayQueueAnew(_ version: UnreadVersion) -> Bool {
        unread.count < Self.mostUnread && unread.insert(version).inserted
    }
}

/// A version of a watched file whose digest could not be computed.
struct UnreadVersion: Hashable {
    let batch: Int64
    let stamp: FileStamp

    init(_ record: JobRecord, _ version: WatchedVersion) {
        batch = record.batch
        stamp = version.stamp.version
    }
}

extension RunningJob {
    /// Returns whether the job is tried for ever while its origin is the reason, because its folder is watched and has
    /// no end.
    func isEndless(in watches: WatchRegistry) -> Bool { watches[record.batch] != nil }

    /// Returns whether the job is for a file of a folder that only other processes watch.
    func isElsewhere(in watches: WatchRegistry, isShared: Bool) -> Bool {
        record.watched != nil && isShared && watches[record.batch] == nil
            && !candidate.lane.tags.contains(WatchTag.prefix)
    }
}
