import Glibc
import Testing
import TransferCore
import TransferEngine
import TransferQueueFixtures
import TransferTestServer
import TransferTestSupport

@testable import TransferJobs

/// Paths that are equal to `String` (é as one scalar and as two), and different to the kernel.
@Suite(.ofAFolder, .timeLimit(.minutes(1))) struct EquivalentPathTests {
    static let composed = "\u{E9}"
    static let decomposed = "e\u{301}"

    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder("equivalent") }

    /// Writes the file under a name that the watcher ignores first: then only rename(2) affects the two names.
    private func write(_ text: String, to name: String) throws {
        try folder.write(text, to: "in/new.part")
        try folder.rename("in/new.part", "in/" + name)
    }

    @Test func bothAreUploadedWhileTheFolderIsWatchedAndNeitherAgain() async throws {
        try await withTestServer { server in
            let inbox = Inbox(server)
            let spec = try folder.watchSpec(server)
            try await withWatch(folder, spec) { _, _, log in
                await log.caughtUp()
                try write("one", to: Self.composed)
                try write("two", to: Self.decomposed)
                await log.wait(forConfirmations: 2)
            }
            try await withWatch(folder, spec) { _, _, log in
                await log.caughtUp()
                #expect(log.confirmed.isEmpty)
            }
            #expect(inbox.puts == ["%C3%A9": ["one"], "e%CC%81": ["two"]])
        }
    }

    @Test func bothStayInTheQueueOverARestart() async throws {
        try await withTestServer { server in
            let inbox = Inbox(server)
            let spec = try folder.watchSpec(server)
            try await withWatch(folder, spec, runs: false) { _, _, log in
                await log.caughtUp()
                try write("one", to: Self.composed)
                try write("two", to: Self.decomposed)
                try await folder.history("count(job)", is: "2")
            }
            let rows = try folder.database.value("SELECT min(id) || ' ' || max(id) FROM ledger")
            try await withWatch(folder, spec) { _, _, log in
                await log.wait(forConfirmations: 2)
                // A file that was taken for an older version of the other one would have come back with a different
                // number.
                try await folder.history("min(id) || ' ' || max(id)", is: rows)
            }
            #expect(inbox.puts == ["%C3%A9": ["one"], "e%CC%81": ["two"]])
        }
    }

    @Test func aFileRenamedToTheOtherNameIsRecognised() async throws {
        try await withTestServer { server in
            let inbox = Inbox(server)
            try await withWatch(folder, try folder.watchSpec(server)) { _, _, log in
                await log.caughtUp()
                try write("one", to: Self.composed)
                await log.wait(forConfirmations: 1)
                try folder.rename("in/" + Self.composed, "in/" + Self.decomposed)
                try await folder.history("hex(path)", is: "65CC81")
            }
            #expect(inbox.puts == ["%C3%A9": ["one"]])
        }
    }

    @Test func aFolderIsNotTakenForThePreviousOne() throws {
        for name in [Self.composed, Self.decomposed] {
            let path = try folder.folder("in/new.part")
            try folder.write(name, to: "in/new.part/f")
            try #require(Glibc.rename(path, folder.path("in/" + name)) == 0, "\(errno)")
        }
        let places = FolderPlaces(folder.path("in"))
        let first = try #require(places.file(Self.composed + "/f"))
        let second = try #require(places.file(Self.decomposed + "/f"))
        #expect(first.stamp.inode != second.stamp.inode && first.stamp.size == 2 && second.stamp.size == 3)
    }
}
