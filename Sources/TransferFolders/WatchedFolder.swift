public import TransferCore
import TransferEventLoop
public import TransferJobs
public import TransferWatch

/// A folder whose finished files are uploaded by a queue, each version of each file once.
///
/// ```swift
/// var spec = WatchSpec(folder: "/srv/out", url: "https://files.example/in/{path}")
/// spec.then = .delete
/// let folder = try await WatchedFolder.start(spec, on: queue)
/// try await queue.run()
/// ```
///
/// An uploaded version is kept in the queue's database while its file is in the folder, so that a restart doesn't upload
/// it again; nor does another name, whether it's a hard link or a confirmed file was renamed, as long as no other file
/// takes its former name, and with it the place of its upload: then it's uploaded by its new one. A version is what its
/// bytes are: a file whose numbers (inode, size, times) are not all as they were is compared with what was sent, by a
/// fingerprint of that or by the SHA-256, which is noted after the upload. A file that was away for longer
/// than a minute when somebody looked is uploaded again. The newest version of a file wins: an older one that waits for its upload makes
/// room, and one that is on its way ends first.
///
/// Nothing is given up for ever, as a folder has no end: an origin that doesn't answer is probed as long as that takes, and
/// a file that failed is tried again, a minute to six hours later (``/TransferJobs/JobFailure/again``) or when another one has succeeded.
///
/// Files that were deleted or changed before their upload began end without one. A thousand at most are in the queue;
/// what is beyond waits in the folder.
public final class WatchedFolder: Sendable {
    public let spec: WatchSpec
    /// The batch that its jobs are in: `watch:` and the folder's path. `QueueRemote.forget(name:endedBefore:)` of it
    /// forgets what was uploaded, too, where no time is given.
    public let batch: String
    package let uploader: FolderUploader

    package init(_ uploader: FolderUploader) {
        spec = uploader.plan.spec
        batch = uploader.plan.batch
        self.uploader = uploader
    }

    /// Ends watching; what is queued stays in the queue. A copy to another file system that is under way is given up, and
    /// its file stays to be moved.
    ///
    /// Once this has returned, no event comes, and no file is moved or deleted, any more.
    public func stop() async { await uploader.stop() }

    /// The path of a job's file, beneath the folder: jobs are named by it and a number.
    public static func path(ofJob identity: String) -> String { WatchedPath.path(ofJob: identity) }
}

/// News of a watched folder besides the events of its jobs (``/TransferJobs/QueueEvent``).
public enum WatchedFolderEvent: Sendable {
    /// At the start: somebody paused the folder's batch, and what comes waits until it's resumed.
    case paused
    /// At the start: files went elsewhere when the folder was watched before (redacted). What was uploaded stays there.
    case retargeted(from: String)
    case watch(WatchEvent)
    /// A version is recorded as confirmed by the server.
    case confirmed(path: String, url: String)
    /// The file was moved, as ``/TransferJobs/WatchSpec/then`` asks.
    case moved(path: String, to: String)
    case deleted(path: String)
    /// A confirmed file couldn't be moved or deleted, or the server's digest is another one; it stays where it is. With the
    /// time until that is tried again; `nil` where it isn't.
    case stays(path: String, TransferError, again: Duration?)
    /// Another name of a file that is, or will be, uploaded by the other one: a hard link, or a file that was renamed
    /// afterwards. Told once for each name.
    case notUploaded(path: String, sameAs: String)
    /// How many files wait for their upload, and how many are confirmed but wait for ``/TransferJobs/WatchSpec/keepFor``.
    case backlog(waiting: Int, kept: Int)
    /// Whether the folder may hold more files that are to be uploaded than those that were counted: it's read at the moment,
    /// or no more are taken before others were uploaded. Told when it changes; at the start it's so.
    case holdsMore(Bool)
}
