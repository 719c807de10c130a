import Foundation
import Glibc
import Testing
import TransferCore
import TransferQueueFixtures
import TransferTestSupport

@testable import TransferJobs
@testable import TransferStore
@testable import TransferStoreSQLite

@Suite struct StateFolderTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder("state") }

    func mode(_ path: String) -> mode_t {
        var status = stat()
        return stat(path, &status) == 0 ? status.st_mode & 0o777 : 0
    }

    func message(_ path: String) -> String {
        do throws(TransferError) {
            _ = try StateFolder(path)
            return "no error"
        } catch {
            return error.message
        }
    }

    @Test func isMadeForItsUserAlone() throws {
        let state = try StateFolder(folder.path("a/b/state/"))
        #expect(mode(state.path) == 0o700)
        #expect(state.database == folder.path("a/b/state/queue.sqlite"))
        let store = try SQLiteStore(state)
        try store.publish(.socket("x"))
        let names = try FileManager.default.contentsOfDirectory(atPath: state.path)
        #expect(names.contains("queue.sqlite") && names.contains("queue.sqlite-wal"))
        for name in names { #expect(mode(state.path + "/" + name) == 0o600, "\(name)") }
    }

    @Test func aFileInItsPlaceIsNamed() throws {
        try folder.write("x", to: "file")
        #expect(message(folder.path("file")).contains("is not a folder; name another"))
        #expect(message(folder.path("file/sub")).contains("ot a directory"))
    }

    @Test(.enabled(if: geteuid() != 0, "as root every folder can be written to: NOT TESTED HERE"))
    func aFolderWithoutPermissionIsNamed() throws {
        let path = try folder.folder("closed")
        chmod(path, 0o500)
        defer { chmod(path, 0o700) }
        #expect(message(path).contains("permission denied"))
        #expect(message(path + "/sub").contains("cannot"))
    }

    @Test func anInvalidDatabaseIsNamedToAReader() throws {
        let state = try StateFolder(folder.path("state"))
        let text = String(repeating: "no database ", count: 1000)
        try folder.write(text, to: "state/queue.sqlite")
        do {
            _ = try SQLiteStore(state, isReader: true)
            Issue.record("opened")
        } catch let error as TransferError {
            #expect(error.message.contains("queue.sqlite cannot be used: it is damaged"))
        }
        #expect(try folder.text("state/queue.sqlite") == text)
    }

    @Test func anInvalidDatabaseIsMovedAsideEachTime() throws {
        let state = try StateFolder(folder.path("state"))
        for number in 1...2 {
            let text = String(repeating: "no database \(number) ", count: 1000)
            unlink(folder.path("state/queue.sqlite-wal"))
            try folder.write(text, to: "state/queue.sqlite")
            let store = try SQLiteStore(state)
            #expect(store.notice?.contains("queue.sqlite.damaged-\(number) now") == true)
            #expect(try folder.text("state/queue.sqlite.damaged-\(number)") == text)
            #expect(try store.statuses(name: nil).isEmpty)
        }
        #expect(try SQLiteStore(state).notice == nil)
    }

    /// SQLite 3.40's quick_check reports "NULL value in need.job" for a healthy table without row numbers.
    @Test func aHealthyDatabaseStaysWhereItIs() throws {
        let fixture = try StoreFixture()
        try fixture.stage([
            Sample.download("http://h.example/a", to: "a", id: "a"),
            Sample.download("http://h.example/b", to: "b", id: "b", needs: ["a"]),
        ])
        _ = try fixture.states()
        #expect(try SQLiteStore(fixture.state).notice == nil)
        #expect(try !fixture.folder.files(below: "state").contains { $0.contains("damaged") })
    }

    @Test(
        arguments: [
            ("ok", nil), ("NULL value in need.job", nil), ("row 3 missing from index i", nil),
            (
                "*** in database main ***\nPage 3: btreeInitPage() returns error code 11",
                "Page 3: btreeInitPage() returns error code 11"
            ),
        ] as [(String, String?)])
    func onlyInvalidPagesAreDamage(_ word: String, _ fault: String?) {
        #expect(DamagedDatabase.fault(in: word) == fault)
    }

    /// A damaged page in the middle of a large database is found when it is needed: the next start reads all pages.
    @Test func encounteredDamageIsCheckedAtTheNextStart() throws {
        let state = try StateFolder(folder.path("state"))
        _ = try SQLiteStore(state)
        DamagedDatabase.note(state.database)
        #expect(try SQLiteStore(state).notice == nil, "it is whole")
        #expect(access(state.database + ".doubtful", F_OK) != 0)
    }

    @Test func isLocatedByTheDocumentedOrder() throws {
        let all = [
            "TRANSFER_STATE": "/t", "STATE_DIRECTORY": "/s:/s2", "XDG_STATE_HOME": "/x", "HOME": "/h",
        ]
        var environment = all
        #expect(try StateFolder.locate(explicit: "/e", environment: environment) == "/e")
        for (name, path) in [
            ("TRANSFER_STATE", "/t"), ("STATE_DIRECTORY", "/s"), ("XDG_STATE_HOME", "/x/transfer"),
            ("HOME", "/h/.local/state/transfer"),
        ] {
            #expect(try StateFolder.locate(explicit: nil, environment: environment) == path)
            environment[name] = ""
        }
        #expect(throws: TransferError.self) { try StateFolder.locate(explicit: nil, environment: environment) }
        #expect(
            try StateFolder.locate(explicit: nil, environment: ["XDG_STATE_HOME": "relative", "HOME": "/h"])
                == "/h/.local/state/transfer")
    }

    @Test func noSecretIsInTheDatabasesFiles() throws {
        let fixture = try StoreFixture()
        let signed = Sample.download("https://user:hunter1@h.example/x?X-Amz-Signature=hunter2&v=1", to: "x")
        var spec = signed
        spec.settings.headers = [.init(name: "Authorization", value: .literal("Bearer hunter3"))]
        spec.settings.auth = .basic(user: .literal("me"), password: .literal("hunter4"))
        spec.settings.proxy = .init(url: "http://me:hunter5@proxy.example:3128")
        let staged = try fixture.stage([spec])
        let lane = Lane(batch: 1, origin: "https://h.example")
        let claimed = try fixture.store.claim(lane, limit: 1, secrets: staged.secrets)
        #expect(claimed.jobs.map(\.record.spec) == [spec], "in this process they are there")
        try fixture.fail(try #require(claimed.jobs.first).record)
        for name in try fixture.folder.files(below: "state") {
            let text = String(decoding: try fixture.folder.data("state/\(name)"), as: Unicode.ASCII.self)
            let leaked = (1...5).map { "hunter\($0)" }.filter { text.contains($0) }
            #expect(leaked.isEmpty, "in \(name)")
        }
    }
}
