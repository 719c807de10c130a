import Foundation
import Glibc
import Testing
import TransferCore
import TransferEngine
import TransferEventLoop
import TransferQueueFixtures
import TransferTestServer
import TransferTestSupport
import TransferWatch

@testable import TransferFolders
@testable import TransferJobs
@testable import TransferQueue
@testable import TransferStore
@testable import TransferStoreSQLite

/// A watch that ends in the midst of its work.
@Suite(.timeLimit(.minutes(1))) struct WatchStopTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder("stop") }

    /// The next watch of the folder may be configured to keep the files.
    @Test func nothingIsMovedAfterTheEndOfWatching() async throws {
        try await withTestServer { server in
            let other = try OtherFileSystem(than: folder)
            // The number exceeds the moves that can happen before the first one is observed.
            let count = 300
            for number in 0..<count { try folder.write(sparse: 512 << 10, to: "in/f\(number)") }
            let spec = try folder.watchSpec(server) {
                ($0.then, $0.keepFor) = (.move(to: other.path), .seconds(3600))
            }
            try await withQueue(folder) { queue in
                let number = try queue.sqlite().openHistory(try WatchPlan(spec)).folder
                try folder.confirm((0..<count).map { "f\($0)" }, number)
                let log = WatchLog()
                let watched = try await WatchedFolder.start(spec, on: queue) { log.add($0) }
                try await reached { [folder] in !folder.exists("in/f0") }
                await watched.stop()
                let (files, reported) = (try folder.files(below: "in"), log.events.count)
                #expect(await watched.uploader.due.acting == nil)
                try await reached { await watched.uploader.due.acting == nil }
                let filesLater = try folder.files(below: "in")
                #expect(!files.isEmpty && files == filesLater && log.events.count == reported)
                #expect(log.events.count { $0.donePath != nil } == count - files.count)
            }
            // The move is still due.
            try await withWatch(folder, spec) { _, _, log in
                await log.wait { $0.lastBacklog.map { $0 == (0, 0) } ?? false }
            }
            let files = try folder.files(below: "in")
            #expect(files.isEmpty && server.requests.isEmpty)
        }
    }

    @Test func aCopyUnderWayIsGivenUpBeforeWatchingEnds() async throws {
        try await withTestServer { server in
            _ = Inbox(server)
            let other = try OtherFileSystem(than: folder)
            let size: Int64 = 256 << 20
            try folder.write(sparse: size, to: "in/a")
            let spec = try folder.watchSpec(server) {
                ($0.then, $0.keepFor) = (.move(to: other.path), .seconds(3600))
            }
            try await withQueue(folder) { queue in
                // The state is that after an upload.
                try folder.confirm(["a"], try queue.sqlite().openHistory(try WatchPlan(spec)).folder)
                let watched = try await WatchedFolder.start(spec, on: queue) { _ in }
                let target = other.path
                try await reached { try !FileManager.default.contentsOfDirectory(atPath: target).isEmpty }
                await watched.stop()
                let there = try FileManager.default.contentsOfDirectory(atPath: other.path)
                let here = try folder.files(below: "in")
                // The move may just have been done.
                #expect((here == ["a"] && there == []) || (here == [] && there == ["a"]))
                let whole = try #require(FolderPlaces(here.isEmpty ? other.path : folder.path("in")).file("a"))
                #expect(whole.stamp.size == size)
            }
        }
    }

    @Test func aFileTakenAsWatchingEndsIsUploadedAndItsBatchEnds() async throws {
        try await withTestServer { server in
            let inbox = Inbox(server)
            let spec = try folder.watchSpec(server)
            try await withQueue(folder) { queue in
                let log = WatchLog()
                let watched = try await WatchedFolder.start(spec, on: queue) { log.add($0) }
                await log.caughtUp()
                // The start's own queries would wait for the database too, and so would the stop.
                try await reached { await watched.uploader.due.acting == nil }
                // A second process writes to the database, so that this one has to wait for it.
                let other = try SQLiteStore(StateFolder(folder.path("state")))
                let writer = WorkerPool(name: "writer", threads: 1)
                let gate = Latch()
                defer { gate.open() }
                await withCheckedContinuation { begun in
                    writer.execute {
                        try? other.database.writeRelaxed { _ in
                            begun.resume()
                            gate.pass()
                        }
                        try? other.retire()
                    }
                }
                try folder.write("one", to: "in/a")
                try await reached { await watched.uploader.offering == .taking }
                await watched.stop()
                gate.open()
                try await reached { await watched.uploader.offering == .nothing }
                try await writer.run {}
                writer.stop()
                #expect(await queue.runner.watchers().isEmpty)
                let events = EventLog(queue)
                let run = Task { try await queue.run() }
                try await events.wait { if case .batchFinished = $0.kind { true } else { false } }
                run.cancel()
                try await run.value
            }
            #expect(inbox.puts == ["a": ["one"]])
        }
    }

    /// - Throws: ``DidNotEnd`` when it takes too long.
    private func reached(_ condition: @escaping @Sendable () async throws -> Bool) async throws {
        try await within {
            while try await !condition() {
                try Task.checkCancellation()
                await Task.yield()
            }
        }
    }
}

extension TemporaryFolder {
    /// Writes a file of zeros that takes no space.
    fileprivate func write(sparse size: Int64, to relative: String) throws {
        try #require(truncate(try write("", to: relative), off_t(size)) == 0)
    }
}
