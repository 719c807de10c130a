import Foundation
import Glibc
import Testing
import TransferCore
import TransferQueueFixtures
import TransferTestServer
import TransferTestSupport

@testable import TransferFolders
@testable import TransferJobs

/// Files that change, move or disappear while their uploads wait or are under way.
@Suite(.ofAFolder, .timeLimit(.minutes(1))) struct NewestVersionTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder("newest") }

    @Test func aNewVersionTakesThePlaceOfOneThatWaits() async throws {
        try await withTestServer { server in
            let inbox = Inbox(server)
            let spec = try folder.watchSpec(server)
            try folder.write("one", to: "in/a")
            try await withWatch(folder, spec, runs: false) { queue, _, log in
                try await folder.history("group_concat(size)", is: "3")
                try folder.write("second", to: "in/a")
                try await folder.history("group_concat(size)", is: "6")
                try await queue.run { await log.wait(forConfirmed: "a") }
            }
            #expect(inbox.puts == ["a": ["second"]])
        }
    }

    /// After a write in place the version under way is not whole; after a new file under the old name it is.
    @Test(arguments: [false, true])
    func aNewVersionWaitsForTheEndOfOneThatIsUnderWay(_ byRename: Bool) async throws {
        try await withTestServer { server in
            let latch = Latch()
            // The server cannot end while one of its threads waits.
            defer { latch.open() }
            let inbox = Inbox(server) { _ in latch.pass() }
            let spec = try folder.watchSpec(server)
            try folder.write("one", to: "in/a")
            try await withWatch(folder, spec) { _, _, log in
                try await inbox.wait(forBodyOf: "a")
                if byRename {
                    try folder.write("second", to: "in/a.part")
                    try folder.rename("in/a.part", "in/a")
                } else {
                    try folder.write("second", to: "in/a")
                }
                try await folder.history("count(*)", is: "2")
                try await folder.history("(SELECT count(*) FROM job WHERE state = 3)", is: "1")
                #expect(server.requests.count == 1)
                latch.open()
                await log.wait(forConfirmations: byRename ? 2 : 1)
                try await folder.history("count(*)", "state = 1 AND size = 6", is: "1")
                #expect(log.confirmed == (byRename ? ["a", "a"] : ["a"]))
            }
            #expect(inbox.puts == ["a": ["one", "second"]] && inbox.overlaps.isEmpty)
        }
    }

    /// A long file is sent as it is read; a short one is read at once.
    @Test(arguments: [3, 300_000]) func aFileThatIsTouchedWhileItIsUnderWayIsUploadedOnce(_ size: Int) async throws {
        try await withTestServer { server in
            let latch = Latch()
            // The server cannot end while one of its threads waits.
            defer { latch.open() }
            let inbox = Inbox(server) { _ in latch.pass() }
            let spec = try folder.watchSpec(server)
            try folder.write(count: size, seed: 1, to: "in/a")
            try await withWatch(folder, spec) { _, _, log in
                try await inbox.wait(forBodyOf: "a")
                try folder.touch("in/a", seconds: 1_000_000)
                // The bytes identify the version that is under way.
                try await folder.history("count(*)", "modified = 1000000000000005", is: "1")
                latch.open()
                await log.wait(forConfirmed: "a")
                try await folder.history("count(*)", "state = 1 AND modified = 1000000000000005", is: "1")
                try await folder.history("(SELECT count(*) FROM job WHERE state < 5)", is: "0")
                try await folder.history("count(*)", is: "1")
                #expect(log.confirmed == ["a"])
            }
            #expect(server.requests.count == 1)
        }
    }

    /// Only the change time of its inode shows the change.
    @Test func aFileThatIsRewrittenWithItsTimeWhileItIsUnderWayIsUploadedAgain() async throws {
        try await withTestServer { server in
            let latch = Latch()
            // The server cannot end while one of its threads waits.
            defer { latch.open() }
            let inbox = Inbox(server) { _ in latch.pass() }
            let spec = try folder.watchSpec(server) { $0.then = .delete }
            try folder.write("one", to: "in/a")
            try folder.setTime("in/a", seconds: 1_000_000)
            try await withWatch(folder, spec) { _, _, log in
                try await inbox.wait(forBodyOf: "a")
                try folder.rewrite("in/a", "two", seconds: 1_000_000)
                latch.open()
                await log.wait { $0.contains { $0.donePath == "a" } }
            }
            #expect(inbox.puts == ["a": ["one", "two"]] && inbox.overlaps.isEmpty)
        }
    }

    @Test func filesWithOneURLAreUploadedOneAfterAnother() async throws {
        try await withTestServer { server in
            let latch = Latch()
            // The server cannot end while one of its threads waits.
            defer { latch.open() }
            let inbox = Inbox(server) { _ in latch.pass() }
            let spec = try folder.watchSpec(server) { $0.url = server.url("/in/{name}") }
            try folder.write("one", to: "in/x/a")
            try await withWatch(folder, spec) { _, _, log in
                try await server.waitForRequests(1)
                try folder.write("two", to: "in/y/a")
                try await folder.history("(SELECT count(*) FROM job WHERE state = 3)", is: "1")
                latch.open()
                await log.wait(forConfirmations: 2)
            }
            #expect(inbox.puts == ["a": ["one", "two"]] && inbox.overlaps.isEmpty)
        }
    }

    @Test func aFileRenamedWhileItWaitsGoesToItsNewURL() async throws {
        try await withTestServer { server in
            let inbox = Inbox(server)
            let spec = try folder.watchSpec(server)
            try folder.write("one", to: "in/a")
            try await withWatch(folder, spec, runs: false) { queue, _, log in
                try await folder.history("group_concat(path)", is: "a")
                try folder.rename("in/a", "in/b")
                try await folder.history("group_concat(path)", is: "b")
                try await queue.run { await log.wait(forConfirmed: "b") }
            }
            #expect(inbox.puts == ["b": ["one"]])
        }
    }

    /// The upload has the file open: it continues to its original URL, and the treatment afterwards applies to the
    /// file.
    @Test func aFileRenamedDuringItsUploadIsMovedFromItsNewName() async throws {
        try await withTestServer { server in
            let latch = Latch()
            // The server cannot end while one of its threads waits.
            defer { latch.open() }
            let inbox = Inbox(server) { _ in latch.pass() }
            let spec = try folder.watchSpec(server) { $0.then = .move(to: folder.path("out")) }
            try folder.write("one", to: "in/a")
            try await withWatch(folder, spec) { _, _, log in
                try await server.waitForRequests(1)
                try folder.rename("in/a", "in/b")
                try await folder.history("group_concat(path)", is: "b")
                latch.open()
                await log.wait { $0.contains { $0.donePath == "b" } }
            }
            #expect(inbox.puts == ["a": ["one"]])
            let files = try folder.files(below: "out")
            #expect(files == ["b"])
            let left = try folder.database.value(
                "SELECT (SELECT count(*) FROM ledger) + (SELECT count(*) FROM job WHERE state < 5)")
            #expect(left == "0")
        }
    }

    /// Both files are on the server then, whichever name the other one had before.
    @Test func aFileWithTheNameOfAnUploadedFileDoesNotReplaceIt() async throws {
        try await withTestServer { server in
            let latch = Latch()
            // The server cannot end while one of its threads waits.
            defer { latch.open() }
            let inbox = Inbox(server) { _ in latch.pass() }
            let spec = try folder.watchSpec(server) { $0.then = .delete }
            try folder.write("one", to: "in/a")
            try await withWatch(folder, spec) { _, _, log in
                try await server.waitForRequests(1)
                try folder.rename("in/a", "in/b")
                try await folder.history("group_concat(path)", is: "b")
                try folder.write("two", to: "in/a")
                try await folder.history("count(*)", is: "2")
                latch.open()
                await log.wait { $0.count { $0.donePath != nil } == 2 }
            }
            #expect(inbox.puts == ["a": ["one", "two"], "b": ["one"]] && inbox.overlaps.isEmpty)
        }
    }

    /// The file is found by its new name when the first attempt fails.
    @Test func aFileRenamedDuringAFailedUploadGoesToItsNewURL() async throws {
        try await withTestServer { server in
            let inbox = Inbox(server)
            let latch = Latch()
            // The server cannot end while one of its threads waits.
            defer { latch.open() }
            server.handle("PUT", "/in/a") { _ in
                latch.pass()
                return Response(status: 503)
            }
            let spec = try folder.watchSpec(server)
            try folder.write("one", to: "in/a")
            try await withWatch(folder, spec) { _, _, log in
                try await server.waitForRequests(1)
                try folder.rename("in/a", "in/b")
                try await folder.history("group_concat(path)", is: "b")
                latch.open()
                await log.wait(forConfirmed: "b")
            }
            #expect(inbox.puts == ["b": ["one"]] && server.requests(to: "/in/a").count == 1)
        }
    }

    @Test func aFileDeletedBeforeItsUploadIsNoFailure() async throws {
        try await withTestServer { server in
            let inbox = Inbox(server)
            let spec = try folder.watchSpec(server)
            try folder.write("one", to: "in/a")
            try folder.write("two", to: "in/b")
            try await withWatch(folder, spec, runs: false) { queue, _, log in
                let events = EventLog(queue)
                try await folder.history("count(*)", is: "2")
                try folder.unlink("in/a")
                try await queue.run {
                    await log.wait(forConfirmed: "b")
                    try await folder.history("count(*)", is: "1")
                    try await events.wait { if case .dropped = $0.kind { true } else { false } }
                }
                let ends = Dictionary(uniqueKeysWithValues: events.ends.map { (WatchedFolder.path(ofJob: $0), $1) })
                #expect(ends == ["a": ["dropped"], "b": ["done"]])
            }
            #expect(inbox.puts == ["b": ["two"]])
        }
    }

    /// utimensat(2) is no event for the watcher: the job that finds the new time handles it.
    @Test func aTimeThatIsSetWhileItWaitsLosesNothing() async throws {
        try await withTestServer { server in
            let inbox = Inbox(server)
            let spec = try folder.watchSpec(server)
            try folder.write("one", to: "in/a")
            try await withWatch(folder, spec, runs: false) { queue, _, log in
                try await folder.history("count(*)", is: "1")
                try folder.setTime("in/a", seconds: 1_000_000)
                try await queue.run { await log.wait(forConfirmed: "a") }
            }
            #expect(inbox.puts == ["a": ["one"]])
        }
    }

    /// The files change names like rotated logs. The first file is uploaded under its new name, as its upload makes
    /// room for the next file.
    @Test(arguments: [true, false]) func aFileWhoseNameIsTakenIsUploadedUnderItsNewName(_ isAtOnce: Bool) async throws {
        try await withTestServer { server in
            let inbox = Inbox(server)
            try folder.write("one", to: "in/a")
            let spec = try folder.watchSpec(server)
            try await withWatch(folder, spec) { _, _, log in
                await log.wait(forConfirmed: "a")
                try folder.rename("in/a", "in/a.1")
                // The new file may come before the old one's new name is known, or after that.
                if !isAtOnce { try await folder.history("path", is: "a.1") }
                try folder.write("two", to: "in/a")
                await log.wait(forConfirmations: 3)
            }
            #expect(inbox.puts == ["a": ["one", "two"], "a.1": ["one"]])
            // Each of the files is known now.
            try await withWatch(folder, spec) { _, _, log in await log.caughtUp() }
            #expect(inbox.puts == ["a": ["one", "two"], "a.1": ["one"]])
        }
    }

    @Test func aTouchedFileWhoseNameIsTakenIsUploadedUnderItsNewName() async throws {
        try await withOneRenamedAndTouched { spec, inbox in
            try folder.write("two", to: "in/a")
            try await withWatch(folder, spec) { _, _, log in await log.wait(forConfirmed: "a", "a.1") }
            #expect(inbox.puts == ["a": ["one", "two"], "a.1": ["one"]])
            try await withWatch(folder, spec) { _, _, log in await log.caughtUp() }
            #expect(inbox.puts == ["a": ["one", "two"], "a.1": ["one"]])
        }
    }

    @Test func aRenamedAndTouchedFileStaysWhereItWasUploaded() async throws {
        try await withOneRenamedAndTouched { spec, inbox in
            try await withWatch(folder, spec) { _, _, log in await log.caughtUp() }
            #expect(inbox.puts == ["a": ["one"]])
            // The state holds until the second file takes its place.
            try folder.write("two", to: "in/a")
            try await withWatch(folder, spec) { _, _, log in
                await log.caughtUp()
                await log.wait(forConfirmed: "a.1")
            }
            #expect(inbox.puts == ["a": ["one", "two"], "a.1": ["one"]])
        }
    }

    /// Renames `a` to `a.1` after its upload, with a new time, while no process watches.
    private func withOneRenamedAndTouched(_ body: (WatchSpec, Inbox) async throws -> Void) async throws {
        try await withTestServer { server in
            let inbox = Inbox(server)
            try folder.write("one", to: "in/a")
            let spec = try folder.watchSpec(server)
            try await withWatch(folder, spec) { _, _, log in
                await log.wait(forConfirmed: "a")
                try await folder.history("count(*)", "digest IS NOT NULL", is: "1")
            }
            try folder.rename("in/a", "in/a.1")
            try folder.setTime("in/a.1", seconds: 1_000_000)
            try await body(spec, inbox)
        }
    }
}
