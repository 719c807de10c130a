import Dispatch
import Foundation
import FoundationNetworking
import Synchronization
import Testing
import TransferTestServer
import TransferTestSupport

@testable import TransferNetworking

/// The file manager of a session's delegate receives all file operations.
@Suite("File managers of sessions", .timeLimit(.minutes(1)))
struct FileManagerTests {
    /// A file manager that records its calls.
    private final class Noting: FileManager, @unchecked Sendable {  // A lock protects the mutable state.
        let calls = Mutex<[String]>([])

        private func note(_ call: String) { calls.withLock { $0.append(call) } }
        var all: Set<String> { calls.withLock { Set($0) } }

        override func moveItem(at source: URL, to target: URL) throws {
            note("move \(target.lastPathComponent)")
            try super.moveItem(at: source, to: target)
        }
        override func createDirectory(
            at url: URL, withIntermediateDirectories: Bool, attributes: [FileAttributeKey: Any]? = nil
        ) throws {
            note("folder \(url.lastPathComponent)")
            try super.createDirectory(
                at: url, withIntermediateDirectories: withIntermediateDirectories, attributes: attributes)
        }
        override func removeItem(at url: URL) throws {
            note("remove \(url.lastPathComponent)")
            try super.removeItem(at: url)
        }
        override func removeItem(atPath path: String) throws {
            note("remove \((path as NSString).lastPathComponent.prefix(16))")
            try super.removeItem(atPath: path)
        }
        override func contents(atPath path: String) -> Data? {
            note("read \((path as NSString).lastPathComponent)")
            return super.contents(atPath: path)
        }
    }

    private let folder: TemporaryFolder
    private let manager = Noting()

    init() throws { folder = try TemporaryFolder("managers") }

    private var session: Session {
        var settings = SessionSettings()
        settings.loops = 1
        settings.temporaryFolder = folder.path
        return Session(settings, delegate: SessionDelegate(fileManager: manager))
    }

    @Test func aDownloadIsGivenItsPlaceByIt() async throws {
        try await withTestServer { server async throws in
            server.serve("/f", .text("new"))
            let target = URL(fileURLWithPath: try folder.write("old", to: "deep/file"))
            let other = URL(fileURLWithPath: folder.path("made/file2"))
            for url in [target, other] {
                let saved = try await session.download(
                    server.url("/f"),
                    to: DownloadRequest.destination(
                        url, options: [.createIntermediateDirectories, .removePreviousFile])
                ).serializingString().value
                #expect(saved == "new")
            }
            #expect(manager.all.isSuperset(of: ["folder made", "remove file", "move file", "move file2"]))
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() == ["deep", "made"])
        }
    }

    @Test func aFormOnTheDiskIsMadeAndRemovedByIt() async throws {
        try await withTestServer { server async throws in
            server.acceptUploads("/up")
            _ = await session.upload(
                multipartFormData: { $0.append(Data("x".utf8), withName: "x") }, to: server.url("/up"),
                usingThreshold: 0
            ).serializingData().response
            #expect(manager.all.contains("folder \(URL(fileURLWithPath: folder.path).lastPathComponent)"))
            #expect(manager.all.contains { $0.hasPrefix("remove transferkit-for") })
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
        }
    }

    @Test func aManagerThatTheUploadIsGivenComesFirst() {
        let own = Noting()
        let upload = session.upload(Data(), to: "http://127.0.0.1:1/x", fileManager: own)
        #expect(upload.fileManager === own)
        #expect(session.upload(Data(), to: "http://127.0.0.1:1/x").fileManager === manager)
    }

    @Test func aLocalFileIsReadByIt() async throws {
        let file = URL(fileURLWithPath: try folder.write("local", to: "local.txt"))
        #expect(try await session.request(file).serializingString().value == "local")
        #expect(manager.all.contains("read local.txt"))
    }
}
