import Foundation
import Glibc
import Testing
import TransferCore
import TransferQueueFixtures
import TransferTestServer
import TransferTestSupport

@testable import TransferFolders
@testable import TransferJobs
@testable import TransferQueue
@testable import TransferStore
@testable import TransferStoreSQLite

/// The counts of a watched folder's jobs in the run of its batch, and the counts of the run in the watch.
@Suite(.timeLimit(.minutes(1))) struct WatchCountsTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder("counts") }

    /// The jobs that are not under way end in the store, without the runner.
    @Test func aFullFolderContinuesWhenItsJobsAreCancelled() async throws {
        try await withTestServer { server in
            let spec = try folder.watchSpec(server)
            for number in 0..<1100 { try folder.write("\(number)", to: "in/f\(number)") }
            try await withWatch(folder, spec, runs: false) { _, watched, log in
                await log.wait { $0.contains { if case .backlog(waiting: 1000, _) = $0 { true } else { false } } }
                let remote = try QueueRemote(state: folder.path("state"), runtimeFolder: nil)
                _ = try remote.ask(.cancel, batch: watched.batch, job: nil)
                try await folder.history("count(*)", is: "1100")
                await log.wait { $0.lastBacklog.map { $0 == (100, 0) } ?? false }
            }
            #expect(server.requests.isEmpty)
        }
    }

    @Test func queuedFilesGoToTheNewHostOfAFolderAtOnce() async throws {
        try await withTestServer { old in
            let latch = Latch()
            // The server cannot end while one of its threads waits.
            defer { latch.open() }
            let before = Inbox(old) { _ in latch.pass() }
            // The number exceeds that of one claim.
            for number in 0..<600 { try folder.write("\(number)", to: "in/f\(number)") }
            try await withTestServer { new in
                let after = Inbox(new)
                let spec = try folder.watchSpec(old)
                try await withWatch(folder, spec, limits: BatchLimits(perHost: 1)) { queue, watched, log in
                    try await folder.history("count(*)", "job IS NOT NULL", is: "600")
                    try await old.waitForRequests(1)
                    await watched.stop()
                    let changed = try folder.watchSpec(new)
                    let again = try await WatchedFolder.start(changed, on: queue) { log.add($0) }
                    try await new.waitForRequests(100)
                    latch.open()
                    await log.wait(forConfirmations: 600)
                    await again.stop()
                }
                #expect(before.puts.count + after.puts.count == 600)
            }
        }
    }

    @Test func newFilesWaitWhileTheBatchIsPaused() async throws {
        try await withTestServer { server in
            let inbox = Inbox(server)
            try folder.write("one", to: "in/a")
            try await withWatch(folder, try folder.watchSpec(server)) { _, watched, log in
                await log.wait(forConfirmed: "a")
                let remote = try QueueRemote(state: folder.path("state"), runtimeFolder: nil)
                _ = try remote.ask(.pause, batch: watched.batch, job: nil)
                try await folder.history("(SELECT isPaused FROM watchedFolder)", is: "1")
                try folder.write("two", to: "in/b")
                try await folder.history("(SELECT count(*) FROM job WHERE state = 4)", is: "1")
                #expect(inbox.puts == ["a": ["one"]])
                _ = try remote.ask(.resume, batch: watched.batch, job: nil)
                await log.wait(forConfirmed: "b")
            }
            #expect(inbox.puts == ["a": ["one"], "b": ["two"]])
        }
    }

    @Test func aFailedVersionThatIsReplacedIsCountedOnce() async throws {
        try await withTestServer { server in
            _ = Inbox(server)
            server.script("/in/a", [.status(403)])
            try folder.write("one", to: "in/a")
            try await withWatch(folder, try folder.watchSpec(server)) { queue, _, log in
                try await folder.history("state", is: "2")
                try folder.write("second", to: "in/a")
                await log.wait(forConfirmed: "a")
                #expect(await queue.runner.left.values.map(\.self) == [0])
            }
        }
    }

    @Test func nothingRemainsAfterARestartWhereEverythingWasUploaded() async throws {
        try await withTestServer { server in
            _ = Inbox(server)
            let spec = try folder.watchSpec(server)
            for name in ["a", "b"] { try folder.write(name, to: "in/" + name) }
            try await withWatch(folder, spec) { _, _, log in await log.wait(forConfirmed: "a", "b") }
            try await withQueue(folder) { queue in
                let events = EventLog(queue)
                let watched = try await WatchedFolder.start(spec, on: queue)
                let run = Task { try await queue.run() }
                try await events.wait { $0.totals != nil }
                let totals = try #require(events.events.compactMap(\.totals).first)
                #expect(totals.remaining == 0 && totals.kept == 2 && totals.jobs == 2)
                await watched.stop()
                run.cancel()
                try await run.value
            }
        }
    }

    /// The files of a folder are reported by a different thread from the counts.
    @Test func countedFilesAreNotCountedAgain() async throws {
        try await withTestServer { server in
            _ = Inbox(server)
            try folder.write("one", to: "in/a")
            try await withWatch(folder, try folder.watchSpec(server)) { queue, watched, log in
                await log.wait(forConfirmed: "a")
                let (runner, uploader) = (queue.runner, watched.uploader)
                let batch = await uploader.batch
                var changes = HistoryChanges()
                changes.added = 5
                changes.stamp = try #require(try queue.store.tally(batch: batch.id).watched).stamp
                await runner.refreshFromStore(batch.id)
                try await within { while await runner.hasStoreCalls { await Task.yield() } }
                await runner.took(uploader, batch: batch, changes)
                #expect(await runner.left[batch.id] == 0)
                changes.stamp = try #require(try queue.store.tally(batch: batch.id).watched).stamp
                await runner.took(uploader, batch: batch, changes)
                #expect(await runner.left[batch.id] == 5)
                await runner.refreshFromStore(batch.id)
                try await within { while await runner.hasStoreCalls { await Task.yield() } }
                #expect(await runner.left[batch.id] == 0)
            }
        }
    }

    /// A file that was only to be kept is not counted as waiting for its time.
    @Test func aRotatedFileThatWaitedForNothingIsNotCountedOff() async throws {
        try await withTestServer { server in
            let inbox = Inbox(server)
            try folder.write("one", to: "in/a")
            try await withWatch(folder, try folder.watchSpec(server)) { _, _, log in await log.wait(forConfirmed: "a") }
            try folder.rename("in/a", "in/a.1")
            try folder.write("two", to: "in/a")
            let spec = try folder.watchSpec(server) { ($0.then, $0.keepFor) = (.delete, .seconds(3600)) }
            try await withWatch(folder, spec) { _, _, log in
                await log.wait(forConfirmed: "a", "a.1")
                await log.wait { $0.lastBacklog.map { $0 == (0, 2) } ?? false }
                let isNegative = log.events.contains { if case .backlog(_, kept: ..<0) = $0 { true } else { false } }
                #expect(!isNegative)
            }
            #expect(inbox.puts == ["a": ["one", "two"], "a.1": ["one"]])
        }
    }

    /// Pruning may find a file after it was moved and before that is noted.
    @Test func aFileThatWasFoundToBeGoneIsNotCountedOffAgain() async throws {
        try await withTestServer { server in
            let spec = try folder.watchSpec(server) { ($0.then, $0.keepFor) = (.delete, .seconds(3600)) }
            let names = ["a", "b", "c", "d", "e"]
            for name in names { try folder.write(name, to: "in/" + name) }
            let store = try SQLiteStore(StateFolder(folder.path("state")))
            let number = try store.openHistory(try WatchPlan(spec)).folder
            try folder.confirm(names, number)
            let rows = try store.dueRows(folder: number, now: .max, limit: 9).map(\.id).sorted()
            #expect(try store.keptCount(folder: number) == 5)
            #expect(try store.prune(present: [], absent: Array(rows[..<2]), grace: 3_600_000).missed == 2)
            let settled: [HistorySettlement.Kind] = [.done, .notThere, .done, .notThere, .kept]
            let left = try store.settle(zip(rows, settled).map { HistorySettlement(row: $0, kind: $1) })
            #expect(try left == 3 && store.keptCount(folder: number) == 0)
            #expect(try store.settle([HistorySettlement(row: rows[4], kind: .kept)]) == 0)
            try store.retire()
        }
    }

    /// The rule also holds where nothing was changed, and after any number of changes.
    @Test func theLaterOfTwoCountsIsKnown() throws {
        let store = try SQLiteStore()
        let stamps = try (0..<3).map { _ in try store.record([], []).watched.stamp }
        #expect(stamps[0] < stamps[1] && stamps[1] < stamps[2])
    }
}

extension QueueEvent {
    fileprivate var totals: BatchTotals? {
        if case .batchProgress(let progress) = kind { progress.totals } else { nil }
    }
}
