import Foundation
import Glibc
import Testing
import TransferCore
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

@Suite(.timeLimit(.minutes(1))) struct WatchedFolderTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder("watched") }

    @Test func presentAndNewFilesAreUploadedOnceEvenAfterARestart() async throws {
        try await withTestServer { server in
            let inbox = Inbox(server)
            let spec = try folder.watchSpec(server)
            try folder.write("one", to: "in/a.txt")
            try await withWatch(folder, spec) { _, watched, log in
                #expect(watched.batch == "watch:" + spec.folder)
                await log.wait(forConfirmed: "a.txt")
                try folder.write("two", to: "in/sub/b c.txt")
                await log.wait(forConfirmed: "sub/b c.txt")
                #expect(log.events.contains { if case .backlog(waiting: 1, kept: 0) = $0 { true } else { false } })
            }
            try folder.write("three", to: "in/c.txt")
            try await withWatch(folder, spec) { _, _, log in
                await log.wait(forConfirmed: "c.txt")
                await log.caughtUp()
                #expect(log.confirmed == ["c.txt"])
            }
            #expect(inbox.puts == ["a.txt": ["one"], "sub/b%20c.txt": ["two"], "c.txt": ["three"]])
        }
    }

    @Test func aFileIsUploadedAgainWhenItWasRewrittenAndNotWhenItWasTouched() async throws {
        try await withTestServer { server in
            let inbox = Inbox(server)
            try folder.write("one", to: "in/a")
            try await withWatch(folder, try folder.watchSpec(server)) { _, _, log in
                await log.wait(forConfirmed: "a")
                // The digest is noted once the upload is confirmed.
                try await folder.history("count(*)", "digest IS NULL", is: "0")
                try folder.touch("in/a", seconds: 1_000_000)
                try folder.write("x", to: "in/sentinel")
                await log.wait(forConfirmed: "sentinel")
                try await folder.history("modified", "path = 'a'", is: "1000000000000005")
                try folder.write("two", to: "in/a")
                await log.wait(forConfirmations: 3)
            }
            #expect(inbox.puts == ["a": ["one", "two"], "sentinel": ["x"]])
        }
    }

    /// The state is that of a killed process: the file is staged, and its upload has not begun.
    @Test func filesStagedByADeadProcessAreUploadedOnceByTheNext() async throws {
        try await withTestServer { server in
            let inbox = Inbox(server)
            let spec = try folder.watchSpec(server)
            try folder.write("one", to: "in/a")
            try await withWatch(folder, spec, runs: false) { queue, _, _ in
                try await folder.history("count(*)", "job IS NOT NULL", is: "1")
                // The next process finds the first one dead, and takes its jobs back.
                try folder.database.run("UPDATE job SET state = 1, owner = \(try queue.sqlite().database.process)")
                try folder.database.run("UPDATE process SET started = started - 1")
            }
            try await withWatch(folder, spec) { _, _, log in await log.wait(forConfirmed: "a") }
            #expect(inbox.puts == ["a": ["one"]])
        }
    }

    @Test func aFolderThatIsWatchedAlreadyIsRefused() async throws {
        try await withTestServer { server in
            let spec = try folder.watchSpec(server)
            try await withWatch(folder, spec, runs: false) { queue, _, _ in
                await #expect { try await WatchedFolder.start(spec, on: queue) } throws: {
                    ($0 as? TransferError)?.code == .fileLocked
                }
                let other = try SQLiteStore(StateFolder(folder.path("state")))
                let plan = try WatchPlan(spec)
                #expect { try other.openHistory(plan) } throws: {
                    ($0 as? TransferError)?.message.contains("watched by another process") == true
                }
                try other.retire()
            }
        }
    }

    private static let faults: [(change: @Sendable (inout WatchSpec) -> Void, words: String)] = [
        ({ $0.url = "http://h.example/{nope}" }, "{nope}"), ({ $0.url = "gopher://h.example/" }, "gopher"),
        ({ $0.folder = "in" }, "absolute"), ({ $0.then = .move(to: $0.folder + "/done") }, "uploaded again"),
        ({ $0.then = .move(to: "done") }, "absolute"), ({ $0.settle = .microseconds(500) }, "settle is 0.0005 seconds"),
        ({ $0.keepFor = .seconds(-1) }, "keepFor"),
    ]

    @Test(arguments: faults.indices) func aSpecThatCannotBeDoneIsRefusedInWords(_ index: Int) throws {
        var spec = WatchSpec(folder: folder.path("in"), url: "http://h.example/{path}")
        spec.rules.isRecursive = true
        let (change, words) = Self.faults[index]
        change(&spec)
        let wrong = spec
        #expect { try WatchPlan(wrong) } throws: { ($0 as? TransferError)?.message.contains(words) == true }
    }

    @Test func aMoveIntoAnUnwatchedSubfolderIsAllowed() throws {
        var spec = WatchSpec(folder: "/in", url: "http://h.example/{path}")
        spec.then = .move(to: "/in/done")
        _ = try WatchPlan(spec)
        spec.rules.isRecursive = true
        spec.then = .move(to: "/in/.done/x")
        _ = try WatchPlan(spec)
        spec.rules.exclude = [try GlobPattern("done/")]
        spec.then = .move(to: "/in/done")
        _ = try WatchPlan(spec)
    }

    @Test func newOnlyCountsFromTheFirstStartEvenForFilesBetweenTwoRuns() async throws {
        try await withTestServer { server in
            let inbox = Inbox(server)
            let spec = try folder.watchSpec(server) { $0.isNewOnly = true }
            try folder.write("old", to: "in/old")
            try await withWatch(folder, spec) { _, _, log in await log.caughtUp() }
            try folder.write("new", to: "in/new")
            try await withWatch(folder, spec) { _, _, log in
                await log.wait(forConfirmed: "new")
                await log.caughtUp()
            }
            #expect(inbox.puts == ["new": ["new"]])
        }
    }

    @Test func anotherNameOfAFileIsNoVersionWhetherItWasLinkedOrRenamed() async throws {
        try await withTestServer { server in
            let inbox = Inbox(server)
            let spec = try folder.watchSpec(server)
            try folder.write("one", to: "in/a")
            try #require(link(folder.path("in/a"), folder.path("in/b")) == 0)
            try await withWatch(folder, spec) { _, _, log in
                await log.caughtUp()
                try await folder.history("count(*)", "state = 1", is: "1")
                try folder.unlink("in/b")
                try folder.rename("in/a", "in/c")
                try await folder.history("path", is: "c")
                try folder.write("x", to: "in/sentinel")
                await log.wait(forConfirmed: "sentinel")
            }
            try await withWatch(folder, spec) { _, _, log in await log.caughtUp() }
            let puts = inbox.puts
            #expect(puts.count == 2 && puts["sentinel"] == ["x"] && (puts["a"] ?? puts["b"]) == ["one"])
        }
    }

    @Test func filesAreRecognisedAfterARebootRenumbersDevices() async throws {
        try await withTestServer { server in
            let inbox = Inbox(server)
            let spec = try folder.watchSpec(server)
            try folder.write("one", to: "in/a")
            try folder.write("two", to: "in/b")
            try await withWatch(folder, spec) { _, _, log in await log.wait(forConfirmed: "a", "b") }
            let device = try folder.database.value("SELECT device FROM ledger")
            try folder.database.run("UPDATE ledger SET device = 99")
            // The file is also renamed while no process watches.
            try folder.rename("in/b", "in/c")
            try await withWatch(folder, spec) { _, _, log in
                await log.caughtUp()
                try await folder.history("group_concat(DISTINCT device)", is: device)
                try await folder.history("group_concat(path)", is: "a,c")
            }
            #expect(inbox.puts == ["a": ["one"], "b": ["two"]])
        }
    }

    @Test func aFailedUploadStaysAndIsTriedAgainByRetryAndAtTheNextStart() async throws {
        try await withTestServer { server in
            let inbox = Inbox(server)
            let spec = try folder.watchSpec(server) { $0.then = .delete }
            server.script("/in/a", [.status(403), .status(403)])
            try folder.write("one", to: "in/a")
            try await withWatch(folder, spec) { queue, watched, _ in
                try await folder.history("state", is: "2")
                let failures = try queue.store.failures(batch: watched.batch, limit: 9)
                #expect(failures.map { WatchedFolder.path(ofJob: $0.job) } == ["a"])
                let remote = try QueueRemote(state: folder.path("state"), runtimeFolder: nil)
                _ = try remote.ask(.retryFailed, batch: watched.batch, job: nil)
                try await server.waitForAnswers(2)
                try await within {
                    while try folder.database.value("SELECT state FROM job") != "6" { await Task.yield() }
                }
            }
            #expect(folder.exists("in/a"))
            try await withWatch(folder, spec) { _, _, log in
                await log.wait { $0.contains { $0.donePath == "a" } }
            }
            #expect(inbox.puts == ["a": ["one"]] && !folder.exists("in/a"))
        }
    }

    @Test func aThousandJobsAtMostAreQueuedAndEndedOnesDoNotStay() async throws {
        try await withTestServer { server in
            server.handle("PUT", "/in/*") { _ in Response(status: 201) }
            let spec = try folder.watchSpec(server)
            for number in 0..<1300 { try folder.write("\(number)", to: "in/f\(number)") }
            try await withWatch(folder, spec, runs: false) { queue, watched, log in
                await log.wait { $0.contains { if case .backlog(waiting: 1000, _) = $0 { true } else { false } } }
                let run = Task { try await queue.run() }
                await log.wait(forConfirmations: 1300)
                let batch = await watched.uploader.batch.id
                await queue.runner.refreshFromStore(batch)
                try await within { while await queue.runner.hasStoreCalls { await Task.yield() } }
                #expect(await queue.runner.totals[batch]?.remaining == 0)
                run.cancel()
                try await run.value
                let most = log.events.map { if case .backlog(let waiting, _) = $0 { waiting } else { 0 } }.max()
                #expect(most == 1000)
            }
            #expect(Set(server.requests.map(\.path)).count == 1300 && server.requests.count == 1300)
            let jobs = try folder.database.value("SELECT count(*) FROM job")
            let rows = try folder.database.value("SELECT count(*) FROM ledger WHERE state = 1 AND job IS NULL")
            #expect(jobs == "1000" && rows == "1300")
        }
    }

    @Test func forgettingTheBatchForgetsItsUploads() async throws {
        try await withTestServer { server in
            let inbox = Inbox(server)
            let spec = try folder.watchSpec(server)
            try folder.write("one", to: "in/a")
            for _ in 0..<2 {
                try await withWatch(folder, spec) { _, _, log in await log.wait(forConfirmed: "a") }
                let remote = try QueueRemote(state: folder.path("state"), runtimeFolder: nil)
                let forgotten = try remote.forget(name: "watch:" + spec.folder, endedBefore: nil)
                #expect(forgotten == ["watch:" + spec.folder])
            }
            #expect(inbox.puts == ["a": ["one", "one"]])
        }
    }

    @Test func filesWhoseJobsWereForgottenAreNotRetried() async throws {
        try await withTestServer { server in
            let inbox = Inbox(server)
            let spec = try folder.watchSpec(server)
            for name in ["cancelled", "sent", "failed"] { try folder.write(name, to: "in/" + name) }
            try await withWatch(folder, spec, runs: false) { _, _, _ in try await folder.history("count(job)", is: "3")
            }
            try folder.database.run(
                """
                UPDATE job SET state = 8 WHERE identity LIKE 'cancelled@%';
                UPDATE job SET state = 6, errorCode = 'mayHaveBeenSent' WHERE identity LIKE 'sent@%';
                UPDATE job SET state = 6, errorCode = 'httpStatus' WHERE identity LIKE 'failed@%';
                UPDATE ledger SET state = 2 WHERE path <> 'cancelled';
                """)
            let remote = try QueueRemote(state: folder.path("state"), runtimeFolder: nil)
            let forgotten = try remote.forget(name: nil, endedBefore: WallClock.milliseconds + 1000)
            #expect(forgotten == ["watch:" + spec.folder])
            try await withWatch(folder, spec) { _, _, log in
                await log.wait(forConfirmed: "failed")
                await log.caughtUp()
                try folder.rename("in/cancelled", "in/renamed")
                try await folder.history("count(*)", "path = 'renamed'", is: "1")
                try folder.write("changed", to: "in/sent")
                await log.wait(forConfirmed: "sent")
                #expect(log.confirmed == ["failed", "sent"])
            }
            #expect(inbox.puts == ["failed": ["failed"], "sent": ["changed"]])
        }
    }

    @Test func rowsOfFilesThatAreGoneArePrunedButNotThoseOfADiskThatIsMissing() async throws {
        try await withTestServer { server in
            _ = Inbox(server)
            let spec = try folder.watchSpec(server)
            for name in ["gone", "here", "elsewhere", "renamed"] { try folder.write(name, to: "in/" + name) }
            try await withWatch(folder, spec) { _, _, log in await log.wait(forConfirmations: 4) }
            try folder.database.run("UPDATE ledger SET device = 99 WHERE path = 'elsewhere'")
            for name in ["gone", "elsewhere"] { try folder.unlink("in/" + name) }
            try folder.rename("in/renamed", "in/name")
            var times = WatchTimes()
            times.pruneGrace = .milliseconds(1)
            try await withWatch(folder, spec, times: times) { _, _, log in
                try await folder.history("group_concat(path)", is: "elsewhere,here,name")
                await log.caughtUp()
                #expect(log.confirmed.isEmpty)
            }
        }
    }
}
