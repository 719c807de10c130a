import Glibc
import Testing
import TransferCore
import TransferTestServer
import TransferTestSupport
import TransferWatch

@testable import TransferQueue

/// A file is what its bytes are, whatever numbers its file system gives it.
@Suite(.timeLimit(.minutes(1))) struct WatchIdentityTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder("identity") }

    /// As a file system does it that gives a new file the inode of one that was removed.
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
            #expect(rows == "1", "the removed one isn't anywhere any more")
        }
    }

    @Test func aFolderThatWasCopiedIsNotSentAgain() async throws {
        try await withTestServer { server in
            let inbox = Inbox(server)
            let spec = try folder.watchSpec(server)
            for number in 0..<4 { try folder.write("picture \(number)", to: "in/\(number)") }
            try await withWatch(folder, spec) { _, _, log in await log.wait(forConfirmations: 4) }
            // As cp -a makes them: other inodes, the former times.
            for number in 0..<4 {
                let stamp = try #require(FolderPlaces(folder.path("in")).file("\(number)")).stamp
                // The last one has other bytes.
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
                // The former row of the last one goes later.
                try await folder.ledger("count(*)", "path <> '3' AND (changed IS NULL OR gone IS NOT NULL)", is: "0")
            }
            #expect(inbox.puts.values.map(\.count).sorted() == [1, 1, 1, 2])
        }
    }

    @Test func whatIsRewrittenWithItsTimeIsUploadedAgain() async throws {
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

    @Test func ofTwoNamesThatAreThereAtTheStartOneIsTold() async throws {
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

    @Test func anotherNameIsToldOnce() async throws {
        try await withTestServer { server in
            let inbox = Inbox(server)
            try folder.write("one", to: "in/a")
            try await withWatch(folder, try folder.watchSpec(server)) { _, watched, log in
                await log.wait(forConfirmed: "a")
                try #require(link(folder.path("in/a"), folder.path("in/b")) == 0)
                await log.wait { $0.contains { $0.otherName == "b" } }
                await watched.keeper.suspect("b")
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
