import Foundation
import Testing
import TransferCore
import TransferQueueFixtures
import TransferTestServer
import TransferTestSupport
import TransferWatch

@testable import TransferFolders
@testable import TransferJobs

/// Circles of moves that no single process observes.
@Suite(.timeLimit(.minutes(1))) struct MovedFilesTests {
    private let now = MonotonicTime(nanoseconds: 1_000_000_000)

    private func version(_ path: String, size: Int64 = 3, modified: Int64 = 4) -> FileVersion {
        FileVersion(device: 1, inode: 2, size: size, modified: modified, path: path)
    }

    @Test func aVersionThatComesBackEachTimeStays() {
        var files = MovedFiles()
        for _ in 0..<MovedFiles.most {
            #expect(!files.isCircling(version("a"), at: now))
            files.moved(version("a"), at: now)
        }
        #expect(files.isCircling(version("a"), at: now))
        // A file that comes back over a second file system has a new inode; different content is a new version.
        #expect(files.isCircling(FileVersion(device: 9, inode: 9, size: 3, modified: 4, path: "a"), at: now))
        #expect(!files.isCircling(version("b"), at: now) && !files.isCircling(version("a", modified: 5), at: now))
    }

    @Test func aRestEndsTheCircle() {
        var files = MovedFiles()
        for _ in 0..<MovedFiles.most { files.moved(version("a"), at: now) }
        let later = now + MovedFiles.span
        #expect(!files.isCircling(version("a"), at: later))
        files.moved(version("a"), at: later)
        #expect(!files.isCircling(version("a"), at: later))
    }

    @Test func manyFilesNeedLittleMemory() {
        var files = MovedFiles()
        for number in 0..<20_000 { files.moved(version("f\(number)"), at: now + .milliseconds(number)) }
        for _ in 0..<MovedFiles.most { files.moved(version("f19999"), at: now + .seconds(21)) }
        #expect(files.isCircling(version("f19999"), at: now + .seconds(22)))
    }

    /// Each of the two queues moves its uploaded files into the other's folder.
    @Test func twoQueuesThatMoveFilesToEachOtherUploadThemFewTimes() async throws {
        let folder = try TemporaryFolder("circle")
        let other = try TemporaryFolder("circle")
        try await withTestServer { server in
            _ = Inbox(server)
            try folder.write("one", to: "in/a")
            try FileManager.default.createDirectory(atPath: other.path("in"), withIntermediateDirectories: true)
            let there = try folder.watchSpec(server) { $0.then = .move(to: other.path("in")) }
            let back = try other.watchSpec(server) { $0.then = .move(to: folder.path("in")) }
            try await withWatch(folder, there) { _, _, log in
                try await withWatch(other, back) { _, _, second in
                    await log.wait { events in
                        events.contains {
                            if case .stays("a", let error, _) = $0 { error.message.contains("circle") } else { false }
                        }
                    }
                    #expect(!second.events.isEmpty)
                }
            }
            #expect(server.requests.filter { $0.method == "PUT" }.count <= 2 * (MovedFiles.most + 1))
            #expect(folder.exists("in/a"))
        }
    }
}
