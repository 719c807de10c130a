import Glibc
import Testing
import TransferCore
import TransferEventLoop
import TransferTestSupport

@testable import TransferWatch

/// A consumer with an upload history like the queue's, which can be full, and a record of the watcher's events.
final class Uploads: WatchConsumer {
    struct State {
        /// The taken versions in order, each version and name once.
        var taken: [FileVersion] = []
        var history: Set<FileVersion> = []
        var offered = 0
        var batches: [Int] = []
        var events: [WatchEvent] = []
        /// The number of further versions that the consumer takes.
        var room = Int.max
        var isAsked = false
    }

    private let awaited = AwaitedState(State())

    func offer(_ files: [FileVersion]) async -> Int {
        change { state in
            #expect(!state.isAsked, "two batches at a time")
            state.isAsked = true
        }
        // Other tasks may run: a real consumer does not finish at once.
        await Task.yield()
        return change { state in
            state.isAsked = false
            state.batches.append(files.count)
            var handled = 0
            for file in files {
                if !state.history.contains(file) {
                    guard state.room > 0 else { break }
                    state.room -= 1
                    state.history.insert(file)
                    state.taken.append(file)
                }
                handled += 1
            }
            state.offered += handled
            return handled
        }
    }

    func tell(_ event: WatchEvent) { change { $0.events.append(event) } }

    @discardableResult
    func change<Value>(_ change: (inout State) -> Value) -> Value { awaited.change(change) }

    var state: State { awaited.state }

    @discardableResult
    func wait(until condition: @escaping @Sendable (State) -> Bool) async -> State {
        await awaited.wait(until: condition)
        return state
    }

    /// Waits until these paths have been taken.
    @discardableResult
    func wait(for paths: [String]) async -> State {
        await wait { state in Set(state.taken.map(\.path)).isSuperset(of: paths) }
    }

    func waitForEvent(_ matches: @escaping @Sendable (WatchEvent) -> Bool) async {
        await wait { $0.events.contains(where: matches) }
    }

    /// The sorted paths that have been taken; a path occurs twice if two versions were.
    var paths: [String] { state.taken.map(\.path).sorted() }
}

/// A watched folder with a short settle time.
final class WatchStage: Sendable {
    let folder: TemporaryFolder
    let uploads = Uploads()
    let watcher: FolderWatcher
    let loop: EventLoop
    let workers: WorkerPool

    init(
        in folder: TemporaryFolder? = nil, root: String = "in", makesRoot: Bool = true, kernel: WatchKernel = .linux,
        loopName: String = "watch", _ change: (inout FolderWatcher.Options) -> Void = { _ in }
    ) throws {
        self.folder = try folder ?? TemporaryFolder("watch")
        loop = try EventLoop(name: loopName)
        workers = WorkerPool(name: loopName + "-io", threads: 1)
        if makesRoot { try self.folder.folder(root) }
        var options = FolderWatcher.Options()
        options.settle = .milliseconds(30)
        options.rules.isRecursive = true
        options.pollInterval = .milliseconds(50)
        change(&options)
        watcher = FolderWatcher(
            self.folder.path(root), options: options, kernel: kernel, loop: loop, workers: workers, consumer: uploads,
            events: { [uploads] in uploads.tell($0) })
    }

    deinit {
        loop.stop()
        workers.stop()
    }

    /// Starts the watcher, and waits until all existing files have been taken.
    func started() async -> Self {
        watcher.start()
        await caughtUp()
        return self
    }

    func caughtUp() async {
        await uploads.waitForEvent { if case .caughtUp = $0 { true } else { false } }
    }

    /// Waits until all earlier changes have been decided: a file that was made later has been taken.
    func passed(_ name: String = "sentinel") async throws {
        try folder.write("x", to: "in/\(name)")
        await uploads.wait(for: [name])
    }
}

/// System calls on paths, whose errors fail the test.
enum Paths {
    static func rename(_ from: String, _ to: String) throws { try #require(Glibc.rename(from, to) == 0, "\(errno)") }
    static func link(_ from: String, _ to: String) throws { try #require(Glibc.link(from, to) == 0, "\(errno)") }
    static func symlink(_ target: String, _ at: String) throws {
        try #require(Glibc.symlink(target, at) == 0, "\(errno)")
    }
    static func remove(_ path: String) throws { try #require(Glibc.remove(path) == 0, "\(errno)") }
    static func makeFolder(_ path: String) throws { try #require(Glibc.mkdir(path, 0o755) == 0, "\(errno)") }
}
