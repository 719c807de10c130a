import TransferCore
import TransferEngine
import TransferFolders
import TransferJobs
import TransferScheduling

/// Keepers that watch the folders of batches.
struct WatchRegistry {
    private var uploaders: [Int64: FolderUploader] = [:]
    private var names: Set<String> = []
    /// Watched files that have been queued anew because they lacked a digest.
    private var unread: Set<UnreadVersion> = []

    private static let mostUnread = 10_000

    subscript(batch: Int64) -> FolderUploader? { uploaders[batch] }

    var all: [FolderUploader] { Array(uploaders.values) }

    /// - Returns: Whether nobody watches it here.
    mutating func reserve(_ name: String) -> Bool { names.insert(name).inserted }

    mutating func release(_ name: String) { names.remove(name) }

    /// A folder's batch; after it was forgotten it has another.
    mutating func set(_ uploader: FolderUploader, of batch: Int64) {
        if uploaders[batch] !== uploader { uploaders = uploaders.filter { $0.value !== uploader } }
        uploaders[batch] = uploader
    }

    mutating func remove(_ batch: Int64) -> FolderUploader? { uploaders.removeValue(forKey: batch) }

    /// - Returns: Whether the version may be queued anew for its digest: once, as a file may be opened and not read.
    mutating func mayQueueAnew(_ version: UnreadVersion) -> Bool {
        unread.count < Self.mostUnread && unread.insert(version).inserted
    }
}

/// A version of a watched file whose digest couldn't be computed.
struct UnreadVersion: Hashable {
    let batch: Int64
    let stamp: FileStamp

    init(_ record: JobRecord, _ version: WatchedVersion) {
        batch = record.batch
        stamp = version.stamp.version
    }
}

extension RunningJob {
    /// Whether it's tried for ever where its origin is the reason: its folder is watched, which has no end.
    func isEndless(in watches: WatchRegistry) -> Bool { watches[record.batch] != nil }

    /// Whether it's for a file of a folder that other processes watch.
    func isElsewhere(in watches: WatchRegistry, isShared: Bool) -> Bool {
        record.watched != nil && isShared && watches[record.batch] == nil
            && !candidate.lane.tags.contains(WatchTag.prefix)
    }
}
