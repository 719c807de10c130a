import CTransferLinux
import Glibc
import TransferCore
import TransferEventLoop
package import TransferJobs
package import TransferStore
import TransferStoreSQLite

/// A client of a queue in another process, to read its state and send it commands.
public final class QueueRemote: Sendable {
    let store: any JobStore & QueueReader
    private let folder: String
    private let runtimeFolder: String?

    /// Opens the queue of a folder for reading and commands.
    ///
    /// - Parameters:
    ///   - state: The folder of the queue.
    ///   - runtimeFolder: A private folder for a socket (`XDG_RUNTIME_DIR`); `nil` uses the state folder.
    /// - Throws: `TransferError` if the folder or its database cannot be used. A queue that no process runs is not an
    ///   error.
    public init(state: String, runtimeFolder: String?) throws {
        let folder = try StateFolder(state)
        store = try SQLiteStore(folder, isReader: true)
        self.folder = folder.path
        self.runtimeFolder = runtimeFolder
    }

    /// Opens a queue with a store other than a folder of this machine.
    package init(over store: any JobStore & QueueReader) {
        self.store = store
        (folder, runtimeFolder) = ("/", nil)
    }

    /// Ends waits for a database that is unreachable. May be called from any thread.
    package func cancelWaits() { store.cancelWaits() }

    /// Returns the workers of a queue that several machines share; empty for a queue of one machine.
    ///
    /// - Throws: `TransferError` if the database fails.
    public func workers() throws -> [WorkerStatus] { try reported { try store.workers() } }

    /// Returns the transfers under way of all workers of a shared queue, the largest first. Callers should repeat it
    /// about once a second while a user watches, because workers report single transfers only then.
    ///
    /// - Parameter limit: The most transfers to return.
    /// - Throws: `TransferError` if the database fails.
    public func jobsUnderWay(limit: Int = 100) throws -> [JobUnderWay] {
        try reported { try store.jobsUnderWay(limit: limit) }
    }

    /// Runs `work`, and adds the remedy to a fault of the database.
    func reported<Value>(_ work: () throws -> Value) throws -> Value {
        do {
            return try work()
        } catch {
            throw store.fault(error)
        }
    }

    /// Returns the identities of the batch's complete jobs.
    ///
    /// - Throws: `TransferError` if the database fails.
    public func completed(batch: String) throws -> Set<String> {
        try reported { try store.completedIdentities(batch: batch) }
    }

    /// Returns the states of all batches, or of the one with that name.
    ///
    /// - Throws: `TransferError` if the database fails. An unknown name is not an error.
    public func statuses(name: String? = nil) throws -> [BatchStatus] {
        try reported { try store.statuses(name: name) }
    }

    /// Returns the names of all batches, in the order of their submission.
    ///
    /// - Throws: `TransferError` if the database fails.
    public func batchNames() throws -> [String] { try batchRegister().names }

    /// Returns all batches with their numbers, in the order of their submission.
    ///
    /// - Throws: `TransferError` if the database fails.
    public func batchRegister() throws -> BatchRegister { try reported { try store.batchRegister() } }

    /// Returns the jobs of a batch that failed for good, in the order of their failures.
    ///
    /// - Throws: `TransferError` if the database fails.
    public func failures(batch: String, limit: Int = .max) throws -> [FailedJob] {
        try reported { try store.failures(batch: batch, limit: limit) }
    }

    /// Returns the hooks (`onFinish`) of a batch and its jobs that could not be reached so far, the oldest first.
    ///
    /// - Throws: `TransferError` if the database fails.
    public func hookTroubles(batch: String, limit: Int = 20) throws -> [HookTrouble] {
        try reported { try store.hookTroubles(batch: batch, limit: limit) }
    }

    /// Visits the jobs of a batch in the order of its job file, a page at a time, to bound the memory.
    ///
    /// - Parameters:
    ///   - batch: The name of the batch.
    ///   - failed: Whether to visit only jobs that failed for good.
    ///   - take: A function that takes a page; `false` ends the visit.
    /// - Throws: `TransferError` if the database fails, and errors of `take`.
    public func jobs(batch: String, failed: Bool = false, _ take: ([ListedJob]) throws -> Bool) throws {
        var last: Int64 = 0
        while true {
            let page = try reported { try store.jobs(batch: batch, after: last, failed: failed, limit: Self.page) }
            guard let end = page.last, try take(page) else { return }
            last = end.number
        }
    }

    private static let page = 1000

    // MARK: Pages of all batches

    /// Returns a page of the jobs of all batches.
    package func jobs(_ selection: JobSelection) throws -> [JobEntry] { try reported { try store.jobs(selection) } }

    /// Returns the number of jobs of all batches in the selection.
    package func count(_ selection: JobSelection) throws -> Int { try reported { try store.count(selection) } }

    /// Returns the job of that number; `nil` if it no longer exists.
    package func job(number: Int64) throws -> JobEntry? {
        var selection = JobSelection()
        selection.numbers = [number]
        return try jobs(selection).first
    }

    /// Returns the least and the greatest number of a job; `nil` if there is no job.
    package func jobNumbers() throws -> ClosedRange<Int64>? { try reported { try store.jobNumbers() } }

    /// Returns the end of a job; `nil` if it has not ended or does not exist.
    package func end(batch: String, job: String) throws -> QueueEvent? {
        try reported { try store.end(batch: batch, job: job) }
    }

    /// Returns the ends of jobs after a cursor, in order.
    package func ends(after cursor: Int64, limit: Int) throws -> [QueueEvent] {
        try reported { try store.ends(after: cursor, limit: limit) }
    }

    /// Returns the cursor of the last end.
    package func lastCursor() throws -> Int64 { try reported { try store.lastCursor() } }

    // MARK: Steering

    /// The way in which a command was delivered.
    public enum Delivery: Sendable, Hashable {
        /// No process runs the batch, so the command was applied at once, to this many jobs.
        case applied(jobs: Int)
        /// The command was passed to the process that runs the batch.
        case handed(pid: Int32)
    }

    /// Sends a command about a batch, or about one job in it.
    ///
    /// - Parameters:
    ///   - verb: The command.
    ///   - batch: The name of the batch.
    ///   - job: The job's identity; `nil` for every job of the batch.
    /// - Returns: Whether the command was applied or passed on.
    /// - Throws: `TransferError` if the batch or job does not exist, or the database fails. A job that has ended is not
    ///   an error.
    public func ask(_ verb: QueueVerb, batch: String, job: String?) throws -> Delivery {
        switch try reported({ try store.deliver(verb, batch: batch, job: job) }) {
        case .applied(let jobs): return .applied(jobs: jobs)
        case .handed(let pid, let socket, _):
            if let socket { ControlSocket.ring(socket) }
            return .handed(pid: pid)
        case .noSuchBatch:
            let names = try batchNames()
            let known = names.isEmpty ? "there are none" : "there are: \(names.prefix(10).joined(separator: ", "))"
            throw TransferError(.fileMissing, "no batch \"\(batch)\"; \(known)")
        case .noSuchJob:
            throw TransferError(.fileMissing, "no job \"\(job ?? "")\" in the batch \"\(batch)\"")
        }
    }

    /// Returns whether servers are known to hold parts of the batch's cancelled uploads.
    /// ``JobQueue/abandonCancelled(in:within:)`` notifies them.
    ///
    /// - Throws: `TransferError` if the database fails.
    public func hasAbandonedUploads(batch: String) throws -> Bool {
        try reported { try store.hasAbandonedUploads(batch: batch) }
    }

    /// Forgets batches: the named one, or all that ended before a time. Batches that run are never forgotten.
    ///
    /// Without a time, the upload history of a watched folder is forgotten too, so that all its files are uploaded
    /// again. With a time it is kept, and cancelled jobs or those that may have arrived are not tried again.
    ///
    /// - Parameters:
    ///   - name: The name of the batch; `nil` for all.
    ///   - endedBefore: The time, in milliseconds since 1970.
    /// - Returns: The names of the forgotten batches.
    /// - Throws: `TransferError` if the database fails.
    public func forget(name: String?, endedBefore: Int64?) throws -> [String] {
        try reported { try store.forget(name: name, endedBefore: endedBefore) }
    }

    /// Removes batches that clients submitted and that ended long ago. Batches of job files and watched folders of this
    /// machine stay, because their files are read again.
    ///
    /// - Returns: The names of the batches.
    /// - Throws: `TransferError` if the database fails.
    package func removeSubmitted(endedFor age: Duration) throws -> [String] {
        let limit = WallClock.milliseconds - age.inMilliseconds
        return try statuses().filter { $0.source == nil && $0.folder == nil && $0.remaining == 0 }.flatMap { status in
            try forget(name: status.name, endedBefore: limit)
        }
    }

    /// Waits until no process runs the batch, without polling: its process rings at the end, and the kernel reports the
    /// process's exit.
    ///
    /// - Returns: The state of the batch then; `nil` if it does not exist.
    /// - Throws: `TransferError` if the database fails.
    public func wait(batch: String) async throws -> BatchStatus? {
        let loop = try EventLoop(name: "wait")
        defer { loop.stop() }
        while let status = try statuses(name: batch).first, let pid = status.pid {
            await Ring.wait(
                on: loop, pid: pid, folders: ControlSocket.folders(runtime: runtimeFolder, state: folder)
            ) { [store] socket in
                try? store.listen(batch: batch, socket: socket)
                // The batch may have ended before the listener was in the table.
                return (try? store.statuses(name: batch).first?.pid) == pid
            }
        }
        return try statuses(name: batch).first
    }
}

/// A wait for a datagram or for the end of a process, whichever comes first.
private enum Ring {
    private final class Waiting {
        var socket: ControlSocket?
        var continuation: CheckedContinuation<Void, Never>?
        let descriptor: Int32
        let loop: EventLoop

        init(descriptor: Int32, loop: EventLoop, continuation: CheckedContinuation<Void, Never>) {
            self.descriptor = descriptor
            self.loop = loop
            self.continuation = continuation
        }

        func end() {
            guard let continuation = continuation.take() else { return }
            if descriptor >= 0 {
                loop.unregister(descriptor)
                close(descriptor)
            }
            if let socket { loop.unregister(socket.descriptor) }
            socket = nil
            continuation.resume()
        }
    }

    /// Waits.
    ///
    /// - Parameter announce: A function that gets the socket's path, and returns whether there is still a reason to
    ///   wait.
    static func wait(
        on loop: EventLoop, pid: Int32, folders: [String], announce: @escaping @Sendable (String) -> Bool
    ) async {
        await withCheckedContinuation { continuation in
            loop.execute {
                let waiting = Waiting(descriptor: transfer_pidfd(pid), loop: loop, continuation: continuation)
                if waiting.descriptor >= 0 {
                    loop.register(waiting.descriptor, for: .readable) { _ in waiting.end() }
                }
                for folder in folders where waiting.socket == nil {
                    waiting.socket = ControlSocket(folder: folder, loop: loop) { waiting.end() }
                }
                guard let socket = waiting.socket, announce(socket.path) else { return waiting.end() }
            }
        }
    }
}
