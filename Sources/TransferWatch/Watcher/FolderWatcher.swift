import Glibc
import TransferCore
public import TransferEventLoop

/// Watches a folder and offers each file in it that is finished.
///
///     let watcher = FolderWatcher("/srv/in", options: options, loop: loop, consumer: uploads) { event in … }
///     watcher.start()
///
/// A file is finished when it was closed after writing, or moved in, and has been quiet for the settle time; one that
/// was there before anybody looked, when it has been unchanged for that time and the kernel knows of nobody who has it
/// open for writing (which it tells the file's owner, and whoever has `CAP_LEASE`). Names for what isn't finished are
/// left alone (``UnfinishedName``), unless a pattern of ``WatchRules/include`` writes their mark itself.
///
/// Nothing is kept about files that are finished: what the folder holds is found by reading it, as far as the consumer
/// takes it, and again when events were lost. While nothing happens, nothing runs.
///
/// - Hard links are files of their own, with the same ``FileVersion/identity-swift.property``. One that is written is offered
///   under the name that it was opened by; under the others when the folder is read.
/// - A symbolic link to a file inside the folder counts as a name of it, and is looked at when it appears and when the
///   folder is read; links that lead out, and to folders, are left alone.
/// - truncate(2) of a file that isn't open is heard of only when the folder is read again.
/// - Where inotify(7) says nothing of what others do (NFS, SMB, FUSE and the like), and where the kernel has no watches
///   left, folders are read every ``Options/pollInterval``.
public final class FolderWatcher: Sendable {
    /// How a folder is watched.
    public struct Options: Sendable {
        /// Rules that say which files are taken.
        public var rules = WatchRules()
        /// How long a file has to be quiet. At least a millisecond.
        public var settle = Duration.seconds(2)
        /// The order in which waiting files go.
        public var order = WatchOrder.oldest
        /// The most files that are offered at once, and that wait for it; from 1.
        public var capacity = 256
        /// The most files that are held while they settle, and as many that ``look(at:)`` brought; what is beyond is found
        /// again by reading the folder.
        public var unsettledCapacity = 8192
        /// The pause between readings of folders that can't be watched, and looks for a watched folder that is missing.
        public var pollInterval = Duration.seconds(10)
        /// Reads again and again instead of using inotify.
        public var polls = false
        /// For those who want new files only: those that are found by reading, and haven't been changed, renamed or moved
        /// since this time, are left alone. In nanoseconds since 1970. To be kept by the caller from the first start on,
        /// so that what comes between two runs is new.
        ///
        /// A folder that comes in while it's watched is new with all that is in it, whatever is read again; the files in it
        /// bear no mark of that, so that the next watcher goes by their times alone.
        public var since: Int64?

        public init() {}
    }

    /// Absolute, as it was given otherwise.
    public let root: String
    private let shell: WatchShell

    /// - Parameters:
    ///   - root: The folder, or a link to one: where that leads elsewhere later, it's the other folder. It may be missing,
    ///     which is told.
    ///   - loop: Where the watcher lives.
    ///   - workers: For reading folders, a step of a few milliseconds at a time. With nothing else on them that takes long.
    ///   - events: Called on the loop, where it must not block.
    public convenience init(
        _ root: String, options: Options = Options(), loop: EventLoop, workers: WorkerPool,
        consumer: any WatchConsumer, events: @escaping @Sendable (WatchEvent) -> Void
    ) {
        self.init(
            root, options: options, kernel: .linux, loop: loop, workers: workers, consumer: consumer, events: events)
    }

    init(
        _ root: String, options: Options, kernel: WatchKernel, loop: EventLoop, workers: WorkerPool,
        consumer: any WatchConsumer, events: @escaping @Sendable (WatchEvent) -> Void
    ) {
        self.root = Self.absolute(root)
        shell = WatchShell(
            root: self.root, options: options, kernel: kernel, loop: loop, workers: workers, consumer: consumer,
            events: events)
    }

    /// Begins. Only once.
    public func start() { shell.loop.execute { [shell] in shell.start() } }

    /// The consumer, which had handled less than it was offered, has room again. Does nothing otherwise.
    public func proceed() { shell.loop.execute { [shell] in shell.proceed() } }

    /// Reads all folders anew.
    public func rescan() { shell.loop.execute { [shell] in shell.rescan() } }

    /// Offers these files as they are once they have been quiet for the settle time, whatever was offered before: also those
    /// that were there before ``Options/since``. For consumers that let a version go that they had handled.
    ///
    /// - Parameter paths: Beneath the watched folder. Those that the rules leave alone, and where there is no file, are
    ///   passed over.
    public func look(at paths: [String]) { shell.loop.execute { [shell] in shell.look(at: paths) } }

    /// Ends, as is to be done before the watcher is let go. Neither is anything offered nor told once this has returned; an answer that is awaited is let be.
    public func stop() async {
        await withCheckedContinuation { continuation in
            let isRunning = shell.loop.execute { [shell] in
                shell.stop()
                continuation.resume()
            }
            if !isRunning { continuation.resume() }
        }
    }

    /// On the loop, for tests.
    func withMachine<Value: Sendable>(_ body: @escaping @Sendable (inout WatchMachine) -> Value) async -> Value? {
        await withCheckedContinuation { continuation in
            shell.loop.execute { [shell] in continuation.resume(returning: shell.withMachine(body)) }
        }
    }

    private static func absolute(_ path: String) -> String {
        var path = path
        if !path.hasPrefix("/"), let current = getcwd(nil, 0) {
            path = String(cString: current) + "/" + path
            free(current)
        }
        while path.utf8.count > 1, path.utf8.last == UInt8(ascii: "/") { path.removeLast() }
        return path
    }
}
