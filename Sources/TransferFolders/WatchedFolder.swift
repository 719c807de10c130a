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
/// The queue's database keeps an uploaded version while its file is in the folder, so that a restart does not upload it
/// again. A hard link or a renamed confirmed file is not uploaded again either. If another file takes the former name,
/// and with it the place of the upload, the renamed file is uploaded by its new name.
///
/// A version is defined by its bytes. A file with a changed inode, size or time is compared with the sent bytes. The
/// comparison uses a fingerprint or the SHA-256 that is recorded after the upload. A file that was found missing for
/// more than a minute is uploaded again. The newest version of a file wins: an older one that waits for its upload is
/// dropped, and one under way ends first.
///
/// No file is given up for ever, because a folder has no end. An origin without an answer is probed for ever. A failed
/// file is retried after a minute to six hours (``/TransferJobs/JobFailure/again``), or when another file has
/// succeeded.
///
/// The jobs of files that were deleted or changed before their upload end without one. At most a thousand files are in
/// the queue; the rest wait in the folder.
public final class WatchedFolder: Sendable {
    /// The rules of the folder.
    public let spec: WatchSpec
    /// The batch of its jobs: `watch:` and the folder's path. `QueueRemote.forget(name:endedBefore:)` without a time
    /// also forgets the folder's upload history.
    public let batch: String
    package let uploader: FolderUploader

    package init(_ uploader: FolderUploader) {
        spec = uploader.plan.spec
        batch = uploader.plan.batch
        self.uploader = uploader
    }

    /// Ends watching; queued files stay in the queue. A copy to another file system that is under way is abandoned, and
    /// its file remains to be moved.
    ///
    /// After the return, there are no more events, and no file is moved or deleted.
    public func stop() async { await uploader.stop() }

    /// Returns the path of a job's file beneath the folder; the job's name consists of the path and a number.
    public static func path(ofJob identity: String) -> String { WatchedPath.path(ofJob: identity) }
}

/// The news of a watched folder, besides the events of its jobs (``/TransferJobs/QueueEvent``).
public enum WatchedFolderEvent: Sendable {
    /// The folder's batch is paused at the start, so that new files wait until a user resumes it.
    case paused
    /// The folder was watched with another URL before, which is reported at the start (redacted). Earlier uploads stay
    /// there.
    case retargeted(from: String)
    case watch(WatchEvent)
    /// A version is recorded as confirmed by the server.
    case confirmed(path: String, url: String)
    /// The file was moved, as ``/TransferJobs/WatchSpec/then`` requires.
    case moved(path: String, to: String)
    case deleted(path: String)
    /// A confirmed file could not be moved or deleted, or the server has another digest; it stays where it is. The last
    /// value is the time until a retry; `nil` if there is none.
    case stays(path: String, TransferError, again: Duration?)
    /// A file is another name of one that is or will be uploaded: a hard link, or a file that was renamed afterwards.
    /// Reported once for each name.
    case notUploaded(path: String, sameAs: String)
    /// The number of files that wait for their upload, and of confirmed files that wait for
    /// ``/TransferJobs/WatchSpec/keepFor``.
    case backlog(waiting: Int, kept: Int)
    /// Whether the folder may hold more files to upload than were counted, because it is being read, or the queue is
    /// full. Reported when it changes; true at the start.
    case holdsMore(Bool)
}
