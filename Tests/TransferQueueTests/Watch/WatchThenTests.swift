import Foundation
import Glibc
import Testing
import TransferCore
import TransferQueueFixtures
import TransferTestServer
import TransferTestSupport
import TransferWatch

@testable import TransferFolders
@testable import TransferJobs

@Suite(.timeLimit(.minutes(1))) struct WatchThenTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder("then") }

    @Test func movesConfirmedFilesByTheirPath() async throws {
        try await withTestServer { server in
            let inbox = Inbox(server)
            try folder.write("one", to: "in/a")
            try folder.write("two", to: "in/sub/b")
            let spec = try folder.watchSpec(server) { $0.then = .move(to: folder.path("out")) }
            try await withWatch(folder, spec) { _, _, log in
                await log.wait { Set($0.compactMap(\.donePath)) == ["a", "sub/b"] }
                try await folder.history("count(*)", is: "0")
            }
            let (left, moved) = (try folder.files(below: "in"), try folder.files(below: "out"))
            #expect(left.isEmpty && moved == ["a", "sub/b"])
            #expect(inbox.puts == ["a": ["one"], "sub/b": ["two"]])
        }
    }

    @Test func nothingIsDoneBeforeTheServerHasConfirmed() async throws {
        try await withTestServer { server in
            let latch = Latch()
            // The server cannot end while one of its threads waits.
            defer { latch.open() }
            _ = Inbox(server) { _ in latch.pass() }
            try folder.write("one", to: "in/a")
            let spec = try folder.watchSpec(server) { $0.then = .delete }
            try await withWatch(folder, spec) { _, _, log in
                try await server.waitForRequests(1)
                #expect(folder.exists("in/a"))
                latch.open()
                await log.wait { $0.contains { $0.donePath == "a" } }
                #expect(!folder.exists("in/a"))
            }
        }
    }

    @Test func aKeptFileIsDeletedAfterItsTimeEvenAfterARestart() async throws {
        try await withOneKept { log in
            await log.wait { $0.contains { $0.isBacklog(kept: 1) } }
        } then: { spec in
            try await withWatch(folder, spec) { _, _, log in
                await log.caughtUp()
                #expect(log.events.contains { $0.isBacklog(kept: 1) })
            }
            #expect(folder.exists("in/a"))
            // One second of the hour remains.
            try folder.database.run("UPDATE ledger SET confirmed = confirmed - 3599000")
            try await withWatch(folder, spec) { _, _, log in
                await log.wait { $0.contains { $0.donePath == "a" } }
                await log.wait { $0.contains { $0.isBacklog(kept: 0) } }
            }
            #expect(!folder.exists("in/a"))
        }
    }

    @Test func aKeptFileThatIsRewrittenCountsOnce() async throws {
        try await withTestServer { server in
            let inbox = Inbox(server)
            try folder.write("one", to: "in/a")
            let spec = try folder.watchSpec(server) {
                $0.then = .delete
                $0.keepFor = .seconds(3600)
            }
            try await withWatch(folder, spec) { _, _, log in
                await log.wait(forConfirmed: "a")
                try folder.write("two", to: "in/a")
                await log.wait(forConfirmations: 2)
                await log.wait { $0.lastBacklog.map { $0 == (0, 1) } ?? false }
                #expect(!log.events.contains { $0.isBacklog(kept: 2) })
            }
            #expect(inbox.puts == ["a": ["one", "two"]])
        }
    }

    @Test func aTouchedKeptFileIsNotUploadedAgainAndDeletedInTime() async throws {
        try await withOneKept { _ in
            try await folder.history("count(*)", "digest IS NULL", is: "0")
            try folder.touch("in/a", seconds: 1_000_000)
            try await folder.history("modified", is: "1000000000000005")
        } then: { spec in
            try folder.endTheHour()
            try await withWatch(folder, spec) { _, _, log in await log.wait { $0.contains { $0.donePath == "a" } } }
        }
    }

    @Test func aMissingKeptFileIsDeletedWhenItIsBack() async throws {
        try await withOneKept { spec in
            try folder.rename("in/a", "away")
            try folder.endTheHour()
            try await withWatch(folder, spec) { _, _, log in
                try await folder.history("gone IS NULL", is: "0")
                await log.wait { $0.lastBacklog.map { $0 == (0, 0) } ?? false }
                try folder.rename("away", "in/a")
                await log.wait { $0.contains { $0.donePath == "a" } }
                await log.wait { $0.lastBacklog.map { $0 == (0, 0) } ?? false }
            }
        }
    }

    @Test func aKeptFileTouchedUnseenIsDeletedInTime() async throws {
        try await withOneKept { _ in
            try await folder.history("count(*)", "digest IS NULL", is: "0")
        } then: { spec in
            try folder.setTime("in/a", seconds: 1_000_000)
            try folder.endTheHour()
            try await withWatch(folder, spec) { _, _, log in await log.wait { $0.contains { $0.donePath == "a" } } }
        }
    }

    @Test func aFileOpenForWritingIsDeletedOnceItIsClosed() async throws {
        try await withOneKept { spec in
            try folder.endTheHour()
            let writer = open(folder.path("in/a"), O_WRONLY)
            try #require(writer >= 0)
            try await withWatch(folder, spec) { _, _, log in
                try await folder.history("gone IS NULL", is: "0")
                #expect(folder.exists("in/a"))
                close(writer)
                await log.wait { $0.contains { $0.donePath == "a" } }
            }
        }
    }

    @Test func allNamesOfAFileAreDeletedAndItIsUploadedOnce() async throws {
        try await withTestServer { server in
            let inbox = Inbox(server)
            try folder.write("one", to: "in/a")
            try #require(link(folder.path("in/a"), folder.path("in/b")) == 0)
            let spec = try folder.watchSpec(server) { $0.then = .delete }
            var deleted: [String] = []
            for _ in 0..<2 {
                try await withWatch(folder, spec) { _, _, log in
                    await log.wait { $0.contains { $0.donePath != nil } }
                    await log.caughtUp()
                    deleted += log.events.compactMap(\.donePath)
                }
            }
            #expect(Set(deleted) == ["a", "b"] && inbox.puts.values.flatMap { $0 } == ["one"])
            let left = try folder.files(below: "in")
            #expect(left.isEmpty)
        }
    }

    /// The rules may be different at the next start.
    @Test func aFileDueForDeletionIsKeptUnderNewRules() async throws {
        try await withOneKept { spec in
            try folder.endTheHour()
            var spec = spec
            (spec.then, spec.keepFor) = (.keep, nil)
            try await withWatch(folder, spec) { _, _, _ in try await folder.history("due", is: nil) }
            #expect(folder.exists("in/a"))
        }
    }

    @Test func aFileRewrittenWithItsSizeAndTimeIsUploadedBeforeItIsDeleted() async throws {
        try await withTestServer { server in
            let inbox = Inbox(server)
            try folder.write("one", to: "in/a")
            try folder.setTime("in/a", seconds: 1_000_000)
            let spec = try folder.watchSpec(server) {
                $0.then = .delete
                $0.keepFor = .seconds(3600)
            }
            try await withWatch(folder, spec) { _, _, log in
                await log.wait(forConfirmed: "a")
                try await folder.history("count(*)", "digest IS NOT NULL", is: "1")
            }
            try folder.write("two", to: "in/a")
            try folder.setTime("in/a", seconds: 1_000_000)
            try folder.endTheHour()
            try await withWatch(folder, spec) { _, _, log in await log.wait(forConfirmed: "a") }
            #expect(inbox.puts == ["a": ["one", "two"]])
            #expect(try folder.text("in/a") == "two")
        }
    }

    /// Editors of song tags leave a file like this; where digests are requested, they reveal the change.
    @Test(arguments: [true, false])
    func aFileRewrittenWithItsSizeAndTimeIsANewVersionWithDigests(_ isRunning: Bool) async throws {
        try await withTestServer { server in
            let inbox = Inbox(server)
            try folder.write("one", to: "in/a")
            try folder.setTime("in/a", seconds: 1_000_000)
            let spec = try folder.watchSpec(server) {
                $0.url = server.url("/in/{sha256}-{name}")
                $0.rules.isRecursive = false
            }
            let rewrite = {
                let file = try #require(FileHandle(forWritingAtPath: folder.path("in/a")))
                try file.write(contentsOf: Data("two".utf8))
                try folder.setTime("in/a", seconds: 1_000_000)
                try file.close()
            }
            try await withWatch(folder, spec) { _, _, log in
                await log.wait(forConfirmed: "a")
                guard isRunning else { return }
                try rewrite()
                await log.wait { $0.count { $0.confirmedPath == "a" } == 2 }
            }
            if !isRunning {
                try rewrite()
                try await withWatch(folder, spec) { _, _, log in await log.wait(forConfirmed: "a") }
            }
            #expect(Set(inbox.puts.values) == [["one"], ["two"]])
            // A file that only looks changed is read once, and is not sent.
            try folder.setTime("in/a", seconds: 1_000_000)
            try await withWatch(folder, spec) { _, _, log in await log.caughtUp() }
            #expect(inbox.puts.count == 2)
        }
    }

    /// A file's times come from its file system: from a server, or from the kernel's last tick.
    @Test func aRewrittenFileIsANewVersionWithAClockAheadOfTheFileSystem() async throws {
        try await withTestServer { server in
            let inbox = Inbox(server)
            try folder.write("one", to: "in/a")
            try folder.setTime("in/a", seconds: 1_000_000)
            let spec = try folder.watchSpec(server) { $0.url = server.url("/in/{sha256}") }
            try await withWatch(folder, spec) { _, _, log in await log.wait(forConfirmed: "a") }
            try folder.database.run("UPDATE ledger SET staged = staged + 3600000")
            try folder.write("two", to: "in/a")
            try folder.setTime("in/a", seconds: 1_000_000)
            try await withWatch(folder, spec) { _, _, log in await log.wait(forConfirmed: "a") }
            #expect(Set(inbox.puts.values) == [["one"], ["two"]])
        }
    }

    /// The program may also end in between.
    @Test func aFileRewrittenWithItsTimeBeforeItsDeletionIsUploadedAgain() async throws {
        try await withTestServer { server in
            let inbox = Inbox(server)
            try folder.write("one", to: "in/a")
            try folder.setTime("in/a", seconds: 1_000_000)
            try await withWatch(folder, try folder.watchSpec(server)) { _, _, log in
                await log.wait(forConfirmed: "a")
                try await folder.history("changed = (SELECT changed FROM ledger)", is: "1")
            }
            // The row is in the state before the deletion, and before a digest was noted.
            try folder.database.run("UPDATE ledger SET digest = NULL, due = confirmed")
            try folder.rewrite("in/a", "two", seconds: 1_000_000)
            try await withWatch(folder, try folder.watchSpec(server) { $0.then = .delete }) { _, _, log in
                await log.wait { $0.contains { $0.donePath == "a" } }
            }
            #expect(inbox.puts == ["a": ["one", "two"]])
        }
    }

    @Test func aFileRewrittenWithItsSizeAndTimeDuringItsUploadIsUploadedAgain() async throws {
        try await withTestServer { server in
            let isRewritten = Latch()
            let inbox = Inbox(server) { _ in isRewritten.pass() }
            try folder.write("one", to: "in/a")
            try folder.setTime("in/a", seconds: 1_000_000)
            let spec = try folder.watchSpec(server) {
                $0.url = server.url("/in/{sha256}")
                $0.rules.isRecursive = false
            }
            try await withWatch(folder, spec) { _, _, log in
                try await inbox.wait(forBodyOf: "7692c3ad3540bb803c020b3aee66cd8887123234ea0c6e7143c0add73ff431ed")
                await log.caughtUp()
                let times = log.timesCaughtUp
                try folder.write("two", to: "in/a")
                try folder.setTime("in/a", seconds: 1_000_000)
                await log.caughtUp(times + 1)
                isRewritten.open()
                // The sent version is no longer in the folder when its server confirms it.
                await log.wait(forConfirmed: "a")
                #expect(log.confirmed == ["a"])
            }
            #expect(Set(inbox.puts.values) == [["one"], ["two"]])
        }
    }

    @Test func anExcludedWaitingFileIsNeitherUploadedNorDeleted() async throws {
        try await withTestServer { server in
            let inbox = Inbox(server)
            var spec = try folder.watchSpec(server) { $0.rules.isRecursive = true }
            for name in ["a.log", "a.txt", "sub/b.txt"] { try folder.write(name, to: "in/" + name) }
            try await withWatch(folder, spec, runs: false) { _, _, _ in try await folder.history("count(job)", is: "3")
            }
            spec.then = .delete
            spec.rules.exclude = [try GlobPattern("*.log"), try GlobPattern("sub/")]
            try await withWatch(folder, spec) { _, _, log in
                await log.wait { $0.contains { $0.donePath == "a.txt" } }
                await log.caughtUp()
            }
            #expect(inbox.puts.values.flatMap { $0 } == ["a.txt"])
            #expect(folder.exists("in/a.log") && folder.exists("in/sub/b.txt"))
            // The files are found anew where the rules include them again.
            spec.rules.exclude = []
            try await withWatch(folder, spec) { _, _, log in await log.wait(forConfirmed: "a.log", "sub/b.txt") }
            #expect(inbox.puts.values.flatMap { $0 }.sorted() == ["a.log", "a.txt", "sub/b.txt"])
        }
    }

    @Test func anUnmovableFileIsReportedAndRetried() async throws {
        try await withTestServer { server in
            _ = Inbox(server)
            try folder.write("one", to: "in/a")
            try folder.write("in the way", to: "out")
            let spec = try folder.watchSpec(server) { $0.then = .move(to: folder.path("out")) }
            var times = WatchTimes()
            times.thenAgain = FailedFiles.Delays(first: .milliseconds(50), most: .milliseconds(50))
            try await withWatch(folder, spec, times: times) { _, _, log in
                await log.wait { $0.count { $0.staysCode != nil } >= 2 }
                #expect(folder.exists("in/a"))
                try folder.unlink("out")
                await log.wait { $0.contains { $0.donePath == "a" } }
            }
        }
    }

    /// The files of an unmounted disk are not recognised as removed.
    @Test func nothingIsForgottenWhileTheFolderIsMissing() async throws {
        try await withOneKept { spec in
            try folder.rename("in", "away")
            try folder.endTheHour()
            var times = WatchTimes()
            times.pruneGrace = .milliseconds(1)
            try await withWatch(folder, spec, times: times) { _, _, log in
                await log.wait { $0.contains { if case .watch(.rootLost) = $0 { true } else { false } } }
                try folder.rename("away", "in")
                await log.wait { $0.contains { $0.donePath == "a" } }
            }
        }
    }

    /// Uploads `in/a`, which is to be deleted an hour later, and checks that it was uploaded once.
    ///
    /// - Parameters:
    ///   - first: The events while the first watch runs.
    ///   - then: The events after it.
    private func withOneKept(
        _ first: (WatchLog) async throws -> Void = { _ in }, then: (WatchSpec) async throws -> Void
    ) async throws {
        try await withTestServer { server in
            let inbox = Inbox(server)
            try folder.write("one", to: "in/a")
            let spec = try folder.watchSpec(server) {
                $0.then = .delete
                $0.keepFor = .seconds(3600)
            }
            try await withWatch(folder, spec) { _, _, log in
                await log.wait(forConfirmed: "a")
                try await first(log)
            }
            try await then(spec)
            #expect(inbox.puts == ["a": ["one"]])
        }
    }
}

extension TemporaryFolder {
    /// Moves the records back as if an hour had passed since the server's confirmation.
    fileprivate func endTheHour() throws {
        try database.run("UPDATE ledger SET confirmed = confirmed - 3600000")
    }
}
