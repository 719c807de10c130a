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

/// The files that are recognised as removed, and those that are not.
@Suite(.timeLimit(.minutes(1))) struct WatchPruneTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder("prune") }

    private var times: WatchTimes {
        var times = WatchTimes()
        times.pruneGrace = .milliseconds(1)
        return times
    }

    /// The target of the link, in a hidden folder, is not uploaded under its own name.
    @Test func aLinkExistsAsLongAsItsTarget() async throws {
        try await withTestServer { server in
            let inbox = Inbox(server)
            let spec = try folder.watchSpec(server)
            try folder.write("one", to: "in/.data/real")
            try #require(symlink(".data/real", folder.path("in/name")) == 0)
            try folder.write("two", to: "in/gone")
            try await withWatch(folder, spec) { _, _, log in await log.wait(forConfirmed: "name", "gone") }
            try folder.unlink("in/gone")
            try await withWatch(folder, spec, times: times) { _, _, _ in
                try await folder.history("count(*)", "path = 'gone'", is: "0")
            }
            let rows = try folder.database.value("SELECT group_concat(path) FROM ledger")
            #expect(rows == "name")
            try await withWatch(folder, spec) { _, _, log in await log.caughtUp() }
            #expect(inbox.puts == ["name": ["one"], "gone": ["two"]])
        }
    }

    @Test func aFileWithANewTimeIsNotRemovedAndIsRecognised() async throws {
        try await withTestServer { server in
            let inbox = Inbox(server)
            try folder.write("one", to: "in/a")
            try folder.write("two", to: "in/gone")
            try await withWatch(folder, try folder.watchSpec(server), times: times) { _, watched, log in
                await log.wait(forConfirmed: "a", "gone")
                try await folder.history("count(*)", "digest IS NULL", is: "0")
                // The first pass through the upload history is over.
                await log.caughtUp()
                try await within { while await watched.uploader.pruning.isUnderWay { await Task.yield() } }
                try folder.setTime("in/a", seconds: 1_000_000)
                try folder.unlink("in/gone")
                await watched.uploader.prune(onlyGone: false)
                try await folder.history("count(*)", "path = 'gone'", is: "0")
                try await folder.history("modified", is: "1000000000000000")
            }
            #expect(inbox.puts == ["a": ["one"], "gone": ["two"]])
        }
    }

    @Test func aFileThatTheKernelDoesNotShowIsNotRemoved() async throws {
        try await withTestServer { server in
            _ = Inbox(server)
            let spec = try folder.watchSpec(server)
            try folder.write("two", to: "in/gone")
            try await withWatch(folder, spec) { _, _, log in await log.wait(forConfirmed: "gone") }
            try folder.unlink("in/gone")
            // No such name can be queried. The error is one that every user gets, whatever their rights.
            let name = String(repeating: "x", count: 300)
            for path in [name, name + "/a"] {
                try folder.database.run(
                    """
                    INSERT INTO ledger (folder, device, inode, size, modified, path, url, state, staged, confirmed)
                    SELECT folder, device, 1, 1, 1, '\(path)', '', 1, 0, 0 FROM ledger WHERE path = 'gone'
                    """)
            }
            try await withWatch(folder, spec, times: times) { _, _, _ in
                try await folder.history("count(*)", "path = 'gone'", is: "0")
            }
            let rows = try folder.database.value("SELECT count(*) FROM ledger")
            #expect(rows == "2")
        }
    }

    @Test func formerVersionsOfAFileThatIsWrittenInPlaceDoNotStay() async throws {
        try await withTestServer { server in
            _ = Inbox(server)
            let spec = try folder.watchSpec(server)
            try await withWatch(folder, spec) { _, _, log in
                for number in 1...3 {
                    try folder.write(String(repeating: "x", count: number), to: "in/a")
                    await log.wait(forConfirmations: number)
                }
            }
            let before = try folder.database.value("SELECT count(*) FROM ledger")
            #expect(before == "3")
            try await withWatch(folder, spec, times: times) { _, _, _ in
                try await folder.history("group_concat(size)", is: "3")
            }
        }
    }

    @Test func aJustChangedFileIsCheckedAgain() async throws {
        try await withTestServer { server in
            let inbox = Inbox(server)
            try folder.write("one", to: "in/a")
            let spec = try folder.watchSpec(server) { $0.settle = .milliseconds(200) }
            try await withWatch(folder, spec, times: times) { _, watched, log in
                await log.wait(forConfirmed: "a")
                try await folder.history("count(*)", "digest IS NULL", is: "0")
                try folder.setTime("in/a", seconds: 1_000_000)
                await watched.uploader.suspect("a")
                try await folder.history("modified", is: "1000000000000000")
            }
            #expect(inbox.puts == ["a": ["one"]])
        }
    }
}
