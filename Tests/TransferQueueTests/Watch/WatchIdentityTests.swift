import Glibc
import Synchronization
import Testing
import TransferCore
import TransferQueueFixtures
import TransferTestServer
import TransferTestSupport
import TransferWatch

@testable import TransferFolders
@testable import TransferJobs

/// The identity of a file by its bytes, for any numbers that its file system gives it.
@Suite(.timeLimit(.minutes(1))) struct WatchIdentityTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder("identity") }

    /// Gives the row the inode of a different file, as a file system reuses the inode of a removed file.
    private func giveInode(of path: String, toRowOf former: String) throws {
        let stamp = try #require(FolderPlaces(folder.path("in")).file(path)).stamp
        try folder.database.run(
            "UPDATE ledger SET inode = \(stamp.inode ?? 0), modified = \(stamp.modified) WHERE path = '\(former)'")
    }

    @Test(arguments: [true, false]) func aNewFileWithTheInodeOfARemovedOneIsUploaded(_ isSameName: Bool) async throws {
        try await withTestServer { server in
            let inbox = Inbox(server)
            let spec = try folder.watchSpec(server)
            try folder.write("frame 1", to: "in/a")
            try await withWatch(folder, spec) { _, _, log in await log.wait(forConfirmed: "a") }
            try folder.unlink("in/a")
            let name = isSameName ? "a" : "b"
            try folder.write("frame 2", to: "in/" + name)
            try giveInode(of: name, toRowOf: "a")
            try await withWatch(folder, spec) { _, _, log in await log.wait(forConfirmed: name) }
            let expected = isSameName ? ["a": ["frame 1", "frame 2"]] : ["a": ["frame 1"], "b": ["frame 2"]]
            #expect(inbox.puts == expected)
            let rows = try folder.database.value("SELECT count(*) FROM ledger")
            #expect(rows == "1", "the removed one is not anywhere any more")
        }
    }

    @Test func aFolderThatWasCopiedIsNotSentAgain() async throws {
        try await withTestServer { server in
            let inbox = Inbox(server)
            let spec = try folder.watchSpec(server)
            for number in 0..<4 { try folder.write("picture \(number)", to: "in/\(number)") }
            try await withWatch(folder, spec) { _, _, log in await log.wait(forConfirmations: 4) }
            // The copies are made as by cp -a: with new inodes and the former times.
            for number in 0..<4 {
                let stamp = try #require(FolderPlaces(folder.path("in")).file("\(number)")).stamp
                // The last one has different bytes.
                try folder.write(number == 3 ? "picture X" : "picture \(number)", to: "copy")
                try folder.setTime(
                    "copy", seconds: Int(stamp.modified / 1_000_000_000),
                    nanoseconds: Int(stamp.modified % 1_000_000_000))
                try folder.rename("copy", "in/\(number)")
            }
            try await withWatch(folder, spec) { _, _, log in
                await log.wait(forConfirmed: "3")
                await log.caughtUp()
                #expect(log.confirmed == ["3"])
                // The former row of the last one is removed later.
                try await folder.history("count(*)", "path <> '3' AND (changed IS NULL OR gone IS NOT NULL)", is: "0")
            }
            #expect(inbox.puts.values.map(\.count).sorted() == [1, 1, 1, 2])
        }
    }

    /// The changes of a file's numbers without a change of its bytes.
    enum Renumbering: CaseIterable {
        case touched, copied, copiedInWholeSeconds, writtenAnew
    }

    private func renumber(_ name: String, _ how: Renumbering) throws {
        let stamp = try #require(FolderPlaces(folder.path("in")).file(name)).stamp
        let (seconds, rest) = stamp.modified.quotientAndRemainder(dividingBy: 1_000_000_000)
        guard how != .touched else { return try folder.setTime("in/" + name, seconds: Int(seconds) - 500) }
        try folder.write(try folder.text("in/" + name), to: "copy")
        switch how {
        case .touched, .writtenAnew: try folder.setTime("copy", seconds: Int(seconds) + 500)
        case .copied: try folder.setTime("copy", seconds: Int(seconds), nanoseconds: Int(rest))
        case .copiedInWholeSeconds: try folder.setTime("copy", seconds: Int(seconds))
        }
        try folder.rename("copy", "in/" + name)
    }

    /// The records that a killed process left, or a user who gave a file up.
    enum End: String, CaseIterable {
        case inDoubt = "state = 6, errorCode = 'mayHaveBeenSent'"
        case cancelled = "state = 8"

        var ledgerState: Int { self == .inDoubt ? 2 : 0 }
    }

    @Test(arguments: End.allCases, Renumbering.allCases)
    func aFileLeftAloneIsNotSentUnderNewNumbers(_ end: End, _ how: Renumbering) async throws {
        try await withTestServer { server in
            let bodies = Mutex<[String]>([])
            server.handle("POST", "/in") { request in
                bodies.withLock { $0.append(String(decoding: request.body, as: UTF8.self)) }
                return Response(status: 201)
            }
            var spec = try folder.watchSpec(server)
            spec.url = server.url("/in")
            spec.upload.uploadProtocol = .post
            try folder.write("one", to: "in/a")
            try await withWatch(folder, spec) { _, _, log in await log.wait(forConfirmed: "a") }
            try folder.database.run(
                """
                UPDATE ledger SET job = (SELECT id FROM job), state = \(end.ledgerState), due = NULL;
                UPDATE job SET \(end.rawValue)
                """)
            try renumber("a", how)
            try await withWatch(folder, spec) { _, _, log in
                await log.caughtUp()
                try folder.write("other", to: "in/b")
                await log.wait(forConfirmed: "b")
                let stamp = try #require(FolderPlaces(folder.path("in")).file("a")).stamp
                let known = try folder.database.value(
                    "SELECT inode = \(stamp.inode ?? 0) AND modified = \(stamp.modified) FROM ledger WHERE path = 'a'")
                #expect(known == "1", "it is the one that was known")
                // The file is also copied while it is watched.
                guard how != .touched else { return }
                try renumber("a", how)
                try folder.write("third", to: "in/c")
                await log.wait(forConfirmed: "c")
            }
            #expect(bodies.withLock { $0.filter { $0 == "one" } } == ["one"])
        }
    }

    @Test(arguments: Renumbering.allCases)
    func anUploadOfAKilledProcessIsQueriedBeforeItIsSentAgain(_ how: Renumbering) async throws {
        try await withTestServer { server in
            let inbox = Inbox(server)
            let spec = try folder.watchSpec(server)
            try folder.write("one", to: "in/a")
            try await withWatch(folder, spec) { _, _, log in await log.wait(forConfirmed: "a") }
            try folder.database.run(
                """
                UPDATE ledger SET job = (SELECT id FROM job), state = 0, due = NULL;
                UPDATE job SET state = 0, wasInterrupted = 1, endSequence = NULL
                """)
            try renumber("a", how)
            try await withWatch(folder, spec) { _, _, log in await log.wait(forConfirmed: "a") }
            #expect(server.requests.map(\.method).prefix(2) == ["PUT", "HEAD"])
            #expect(inbox.puts.keys.sorted() == ["a"])
        }
    }

    @Test(arguments: [Renumbering.copiedInWholeSeconds, .writtenAnew])
    func theSameBytesInAnotherFileOfItsNameAreNotSentAgain(_ how: Renumbering) async throws {
        try await withTestServer { server in
            let inbox = Inbox(server)
            let spec = try folder.watchSpec(server)
            try folder.write("one", to: "in/a")
            try folder.setTime("in/a", seconds: 1_600_000_000, nanoseconds: 123_456_789)
            try await withWatch(folder, spec) { _, _, log in await log.wait(forConfirmed: "a") }
            try renumber("a", how)
            try await withWatch(folder, spec) { _, _, log in
                await log.caughtUp()
                // The file is renumbered while it is watched, too; then a file with different bytes follows.
                try renumber("a", how)
                try folder.write("sentinel", to: "in/b")
                await log.wait(forConfirmed: "b")
                try folder.write("two", to: "copy")
                try folder.rename("copy", "in/a")
                await log.wait(forConfirmed: "a")
            }
            #expect(inbox.puts == ["a": ["one", "two"], "b": ["sentinel"]])
        }
    }

    @Test func aFileRewrittenWithItsTimeIsUploadedAgain() async throws {
        try await withTestServer { server in
            let inbox = Inbox(server)
            try folder.write("one", to: "in/a")
            try await withWatch(folder, try folder.watchSpec(server)) { _, _, log in
                await log.wait(forConfirmed: "a")
                let stamp = try #require(FolderPlaces(folder.path("in")).file("a")).stamp
                try folder.write("two", to: "in/a")
                try folder.setTime(
                    "in/a", seconds: Int(stamp.modified / 1_000_000_000),
                    nanoseconds: Int(stamp.modified % 1_000_000_000))
                await log.wait(forConfirmations: 2)
            }
            #expect(inbox.puts == ["a": ["one", "two"]])
        }
    }

    @Test func oneOfTwoNamesAtTheStartIsReported() async throws {
        try await withTestServer { server in
            let inbox = Inbox(server)
            try folder.write("one", to: "in/a")
            try #require(link(folder.path("in/a"), folder.path("in/b")) == 0)
            try await withWatch(folder, try folder.watchSpec(server)) { _, _, log in
                await log.wait { $0.contains { $0.otherName != nil } && $0.contains { $0.confirmedPath != nil } }
                let names = log.events.compactMap(\.otherName) + log.confirmed
                #expect(names.sorted() == ["a", "b"])
            }
            #expect(inbox.puts.values.map(\.count) == [1])
        }
    }

    @Test func anotherNameIsNotReportedAgainAtTheNextStart() async throws {
        try await withTestServer { server in
            let inbox = Inbox(server)
            let spec = try folder.watchSpec(server)
            try folder.write("one", to: "in/a")
            try #require(link(folder.path("in/a"), folder.path("in/b")) == 0)
            var reported: [String] = []
            for run in 0..<3 {
                try await withWatch(folder, spec) { _, _, log in
                    if run == 0 { await log.wait(forConfirmations: 1) }
                    await log.caughtUp()
                    reported += log.events.compactMap(\.otherName)
                }
            }
            #expect(reported.count == 1 && inbox.puts.count == 1)
        }
    }

    @Test func anotherNameThatReturnsIsReportedAgain() async throws {
        try await withTestServer { server in
            _ = Inbox(server)
            let spec = try folder.watchSpec(server)
            try folder.write("one", to: "in/a")
            try await withWatch(folder, spec) { _, _, log in await log.wait(forConfirmed: "a") }
            for _ in 0..<2 {
                try #require(link(folder.path("in/a"), folder.path("in/b")) == 0)
                try await withWatch(folder, spec) { _, _, log in
                    await log.wait { $0.contains { $0.otherName == "b" } }
                }
                try folder.unlink("in/b")
                try await withWatch(folder, spec) { _, _, _ in
                    let database = folder.database
                    try await within {
                        while try database.value("SELECT count(*) FROM otherName") != "0" {
                            try Task.checkCancellation()
                            await Task.yield()
                        }
                    }
                }
            }
        }
    }

    /// The files are copies of those that were there before a start with only new files; only new ones among them are
    /// uploaded.
    @Test(arguments: [Renumbering.copied, .copiedInWholeSeconds])
    func aCopyOfAFileLeftAloneIsLeftAlone(_ how: Renumbering) async throws {
        try await withTestServer { server in
            let inbox = Inbox(server)
            let spec = try folder.watchSpec(server) { $0.isNewOnly = true }
            for name in ["a", "b", "c"] { try folder.write("old " + name, to: "in/" + name) }
            try await withWatch(folder, spec) { _, _, log in
                try await folder.history("count(*)", "state = 4", is: "3")
                try folder.write("new", to: "in/d")
                await log.wait(forConfirmed: "d")
            }
            for name in ["a", "b", "d"] { try renumber(name, how) }
            // A different file has the name of c.
            try folder.write("another", to: "copy")
            try folder.rename("copy", "in/c")
            try await withWatch(folder, spec) { _, _, log in
                await log.wait(forConfirmed: "c")
                await log.caughtUp()
                try renumber("a", how)
                try folder.write("last", to: "in/e")
                await log.wait(forConfirmed: "e")
            }
            #expect(inbox.puts == ["c": ["another"], "d": ["new"], "e": ["last"]])
            // A watch for all files uploads all of them.
            try await withWatch(folder, try folder.watchSpec(server)) { _, _, log in
                await log.wait(forConfirmed: "a", "b")
            }
        }
    }

    @Test func anotherNameIsReportedOnce() async throws {
        try await withTestServer { server in
            let inbox = Inbox(server)
            try folder.write("one", to: "in/a")
            try await withWatch(folder, try folder.watchSpec(server)) { _, watched, log in
                await log.wait(forConfirmed: "a")
                try #require(link(folder.path("in/a"), folder.path("in/b")) == 0)
                await log.wait { $0.contains { $0.otherName == "b" } }
                await watched.uploader.suspect("b")
                try folder.rename("in/a", "in/c")
                try folder.unlink("in/b")
                try folder.write("x", to: "in/sentinel")
                await log.wait(forConfirmed: "sentinel")
                await log.wait { $0.contains { $0.otherName == "c" } }
                #expect(log.events.compactMap(\.otherName).sorted() == ["b", "c"])
            }
            #expect(inbox.puts == ["a": ["one"], "sentinel": ["x"]])
        }
    }
}

extension WatchedFolderEvent {
    fileprivate var otherName: String? { if case .notUploaded(let path, _) = self { path } else { nil } }
}
