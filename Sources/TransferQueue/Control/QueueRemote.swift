import CTransferLinux
import Glibc
import TransferCore
import TransferEventLoop
package import TransferJobs
package import TransferStore
import TransferStoreSQLite

/// What other processes may do with a queue: look at it, and ask for something.
public final class QueueRemote: Sendable {
    let store: any JobStore & QueueReader
    private let folder: String
    private let runtimeFolder: String?

    /// Opens the queue of a folder.
    ///
    /// - Parameter runtimeFolder: A private folder for a socket (`XDG_RUNTIME_DIR`); the state folder serves without.
    /// - Throws: `TransferError` when the folder or its database can't be used.
    public init(state: String, runtimeFolder: String?) throws {
        let folder = try StateFolder(state)
        store = try SQLiteStore(folder, isReader: true)
        self.folder = folder.path
        self.runtimeFolder = runtimeFolder
    }

    /// Looks at a queue that something else than a folder of this machine remembers.
    package init(over store: any JobStore & QueueReader) {
        self.store = store
        (folder, runtimeFolder) = ("/", nil)
    }

    /// Ends what is waited for, where the queue is in a database that may be away. From any thread.
    package func cancelWaits() { store.cancelWaits() }

    /// The workers of a queue that many machines share; none of one machine's queue.
    public func workers() throws -> [WorkerStatus] { try reported { try store.workers() } }

    /// The transfers under way of all workers of a queue that many machines share, the largest first. To be asked about once
    /// a second while somebody watches: workers tell of single transfers only then.
    public func jobsUnderWay(limit: Int = 100) throws -> [JobUnderWay] {
        try reported { try store.jobsUnderWay(limit: limit) }
    }

    /// A fault of the database is told with its remedy.
    func reported<Value>(_ work: () throws -> Value) throws -> Value {
        do {
            return try work()
        } catch {
            throw store.fault(error)
        }
    }

    /// The identities of the batch's jobs that are complete.
    public func completed(batch: String) throws -> Set<String> {
        try reported { try store.completedIdentities(batch: batch) }
    }

    /// How the batches stand; all of them, or the one of that name.
    public func statuses(name: String? = nil) throws -> [BatchStatus] { try reported { try store.statuses(name: name) } }

    /// The names of all batches, in the order in which they came.
    public func batchNames() throws -> [String] { try batchRegister().names }

    /// All batches, in the order in which they came, with their numbers.
    public func batchRegister() throws -> BatchRegister { try reported { try store.batchRegister() } }

    /// The jobs of a batch that failed for good, in the order they did.
    public func failures(batch: String, limit: Int = .max) throws -> [FailedJob] {
        try reported { try store.failures(batch: batch, limit: limit) }
    }

    /// Hooks (`onFinish`) of a batch, and of its jobs, that couldn't be told so far, the oldest first.
    public func hookTroubles(batch: String, limit: Int = 20) throws -> [HookTrouble] {
        try reported { try store.hookTroubles(batch: batch, limit: limit) }
    }

    /// Goes through the jobs of a batch in the order of its job file, with the memory of a page of them.
    ///
    /// - Parameters:
    ///   - failed: Only those that failed for good.
    ///   - take: Takes a page; `false` ends the list.
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

    /// A page of jobs of all batches.
    package func jobs(_ selection: JobSelection) throws -> [JobEntry] { try reported { try store.jobs(selection) } }

    /// How many jobs are so, of all batches.
    package func count(_ selection: JobSelection) throws -> Int { try reported { try store.count(selection) } }

    /// The job of that number; `nil` where there is none any more.
    package func job(number: Int64) throws -> JobEntry? {
        var selection = JobSelection()
        selection.numbers = [number]
        return try jobs(selection).first
    }

    /// The least and the greatest number that a job has; `nil` where there is none.
    package func jobNumbers() throws -> ClosedRange<Int64>? { try reported { try store.jobNumbers() } }

    /// How the job ended; `nil` while it goes on, or where there is no such job.
    package func end(batch: String, job: String) throws -> QueueEvent? {
        try reported { try store.end(batch: batch, job: job) }
    }

    /// The ends of jobs behind a cursor, in order.
    package func ends(after cursor: Int64, limit: Int) throws -> [QueueEvent] {
        try reported { try store.ends(after: cursor, limit: limit) }
    }

    /// The cursor of the last end.
    package func lastCursor() throws -> Int64 { try reported { try store.lastCursor() } }

    // MARK: Steering

    public enum Delivery: Sendable, Hashable {
        /// Nobody runs the batch: done, to so many jobs.
        case applied(jobs: Int)
        /// The process that runs it was told.
        case handed(pid: Int32)
    }

    /// Asks for something, of a batch or of one job in it.
    ///
    /// - Throws: `TransferError` when there is no such batch or job.
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

    /// Whether servers hold parts of the batch's cancelled uploads, as far as is known;
    /// ``JobQueue/abandonCancelled(in:within:)`` tells them.
    public func hasAbandonedUploads(batch: String) throws -> Bool {
        try reported { try store.hasAbandonedUploads(batch: batch) }
    }

    /// Forgets batches: the named one, or those that ended before that time (milliseconds since 1970).
    ///
    /// What was uploaded from a watched folder is forgotten with its batch only where no time is given: then all that is in
    /// the folder is uploaded again. Otherwise its cancelled jobs, and those that may have arrived, aren't tried again.
    ///
    /// - Returns: The names of those forgotten. Batches that run are never forgotten.
    public func forget(name: String?, endedBefore: Int64?) throws -> [String] {
        try reported { try store.forget(name: name, endedBefore: endedBefore) }
    }

    /// Waits until nobody runs the batch any more, without asking again and again: the one who runs it rings, and the
    /// kernel tells when that process is gone.
    ///
    /// - Returns: How the batch stands then; `nil` when there is no such batch.
    public func wait(batch: String) async throws -> BatchStatus? {
        let loop = try EventLoop(name: "wait")
        defer { loop.stop() }
        while let status = try statuses(name: batch).first, let pid = status.pid {
            await Ring.wait(
                on: loop, pid: pid, folders: ControlSocket.folders(runtime: runtimeFolder, state: folder)
            ) { [store] socket in
                try? store.listen(batch: batch, socket: socket)
                // It may have ended before the listener stood in the table.
                return (try? store.statuses(name: batch).first?.pid) == pid
            }
        }
        return try statuses(name: batch).first
    }
}

/// Waits for a datagram or for the end of a process, whichever comes first.
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

    /// - Parameter announce: Given the socket's path; returns whether there is still something to wait for.
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
