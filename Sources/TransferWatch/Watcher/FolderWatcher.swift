import Glibc
import TransferCore
public import TransferEventLoop

/// A watcher of a folder, which offers each finished file in it.
///
///     let watcher = FolderWatcher(
///         "/srv/in", options: options, loop: loop, workers: pool, consumer: uploads) { event in … }
///     watcher.start()
///
/// A file is finished when it was closed after writing or moved in, and has been quiet for the settle time. An older
/// file is finished when it has been unchanged for that time and the kernel knows no process that has it open for
/// writing. (The kernel reports this to the file's owner, and to processes with `CAP_LEASE`.) Names of unfinished files
/// are ignored (``UnfinishedName``), unless a pattern of ``WatchRules/include`` spells their mark itself.
///
/// The watcher keeps no record of finished files. It finds files by reading the folder as fast as the consumer takes
/// them, and again when events were lost. While idle, it uses no processor time.
///
/// - Hard links are separate files with the same ``FileVersion/identity-swift.property``. A written file is offered
///   under the name that it was opened by, and under the others when the folder is read.
/// - A symbolic link to a file inside the folder counts as a name of that file. It is inspected when it appears and
///   when the folder is read. Links to folders or out of the watched folder are ignored.
/// - truncate(2) of a file that is not open is noticed only when the folder is read again.
/// - Folders are read every ``Options/pollInterval`` if inotify(7) does not report changes made elsewhere (NFS, SMB,
///   FUSE and similar), or if the kernel has no watches left.
public final class FolderWatcher: Sendable {
    /// The options of a watcher.
    public struct Options: Sendable {
        /// The rules that decide which files are taken.
        public var rules = WatchRules()
        /// The time that a file has to be quiet, at least a millisecond.
        public var settle = Duration.seconds(2)
        /// The order in which waiting files are offered.
        public var order = WatchOrder.oldest
        /// The most files that are offered at once, and that wait for the next offer; at least 1.
        public var capacity = 256
        /// The most files that are held while they settle, and as many that ``look(at:)`` requested. Further files are
        /// found again by reading the folder.
        public var unsettledCapacity = 8192
        /// The time between readings of folders that cannot be watched, and between searches for a missing watched
        /// folder.
        public var pollInterval = Duration.seconds(10)
        /// Whether folders are read repeatedly instead of using inotify.
        public var polls = false
        /// The time before which files are old, in nanoseconds since 1970; `nil` if all files are wanted. Files that
        /// are found by reading and have not been changed, renamed or moved since are ignored. The caller should keep
        /// the time from the first start on, so that files between two runs count as new.
        ///
        /// A folder that appears while it is watched is new with all its content, even if it is read again. Its files
        /// carry no mark of that, so the next watcher judges them by their times alone.
        public var since: Int64?

        /// Creates the default options.
        public init() {}
    }

    /// The path of the watched folder, made absolute but otherwise unchanged.
    public let root: String
    private let shell: WatchShell

    /// Creates a watcher, which ``start()`` starts.
    ///
    /// - Parameters:
    ///   - root: The folder, or a link to one; if the link later leads elsewhere, the other folder is watched. It may
    ///     be missing, which is reported.
    ///   - options: The options.
    ///   - loop: The event loop of the watcher.
    ///   - workers: The threads that read folders, in steps of a few milliseconds. They should have no other long work.
    ///   - consumer: The consumer of the files.
    ///   - events: A function that is called on the loop and must not block.
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

    /// Starts the watcher. May be called only once.
    public func start() { shell.loop.execute { [shell] in shell.start() } }

    /// Reports that the consumer has room again, after it handled fewer files than it was offered. Has no effect
    /// otherwise.
    public func proceed() { shell.loop.execute { [shell] in shell.proceed() } }

    /// Reads all folders again.
    public func rescan() { shell.loop.execute { [shell] in shell.rescan() } }

    /// Offers these files after they have been quiet for the settle time, whatever was offered before and even if they
    /// are older than ``Options/since``. Meant for consumers that dropped a version which they had handled.
    ///
    /// - Parameter paths: The paths beneath the watched folder. Missing files, and files that the rules ignore, are
    ///   skipped.
    public func look(at paths: [String]) { shell.loop.execute { [shell] in shell.look(at: paths) } }

    /// Ends the watcher, which is required before it is released. After the return, nothing is offered or reported; a
    /// pending answer of the consumer is ignored.
    public func stop() async {
        await withCheckedContinuation { continuation in
            let isRunning = shell.loop.execute { [shell] in
                shell.stop()
                continuation.resume()
            }
            if !isRunning { continuation.resume() }
        }
    }

    /// Runs a function on the loop, for tests.
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
