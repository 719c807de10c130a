public import TransferCore
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
/// What was uploaded is kept in the queue's database, so that neither a restart nor touch(1) uploads a file again.
public final class WatchedFolder: Sendable {
    public let spec: WatchSpec
    /// The batch that its jobs are in: `watch:` and the folder's path.
    public let batch: String

    private init(_ spec: WatchSpec, batch: String) {
        self.spec = spec
        self.batch = batch
    }

    /// Begins to watch. The jobs start as the queue runs.
    ///
    /// - Parameter events: Called in order on a thread of the queue: it has to be quick.
    /// - Throws: `TransferError` for a spec that can't be done, and when the database fails. A folder that isn't there is
    ///   waited for.
    public static func start(
        _ spec: WatchSpec, on queue: JobQueue, events: @escaping @Sendable (WatchedFolderEvent) -> Void = { _ in }
    ) async throws -> WatchedFolder {
        WatchedFolder(spec, batch: "watch:" + spec.folder)
    }

    /// Ends watching; what is queued stays in the queue.
    public func stop() async {}
}

/// What a watched folder tells besides the events of its jobs (``QueueEvent``).
public enum WatchedFolderEvent: Sendable {
    case watch(WatchEvent)
    /// A version is recorded as confirmed by the server.
    case confirmed(path: String, url: String)
    /// What ``WatchSpec/then`` asks for was done with a file.
    case moved(path: String, to: String)
    case deleted(path: String)
    /// A confirmed file couldn't be moved or deleted, or the server's digest is another one; it stays where it is.
    case stays(path: String, TransferError)
    /// How many files wait for their upload, and how many are confirmed but wait for ``WatchSpec/keepFor``.
    case backlog(waiting: Int, kept: Int)
}
