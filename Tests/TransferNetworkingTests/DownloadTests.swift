import Foundation
import Synchronization
import Testing
import TransferCore
import TransferTestServer
import TransferTestSupport

@testable import TransferNetworking

@Suite("Downloads")
struct DownloadTests {
    let folder: TemporaryFolder
    let session: Session
    let content = Content.random(seed: 7, count: 600_000)

    init() throws {
        folder = try TemporaryFolder("download")
        session = makeSession(folder)
    }

    @Test func withoutADestinationTheFileStaysInTheTemporaryFolder() async throws {
        try await withTestServer { server async throws in
            server.serve("/f", content, etag: "\"1\"")
            let request = session.download(server.url("/f"))
            let url = try await request.serializingDownloadedFileURL().value
            #expect(url.path.hasPrefix(folder.path))
            #expect(request.fileURL == url)
            #expect(try content.firstDifference(fromFileAt: url.path) == nil)
        }
    }

    @Test func theFileIsMovedToItsDestinationAndNothingElseIsLeft() async throws {
        try await withTestServer { server async throws in
            server.serve("/f", content)
            let target = URL(fileURLWithPath: folder.path("deep/er/file.bin"))
            let response = await session.download(
                server.url("/f"), to: DownloadRequest.destination(target, options: .createIntermediateDirectories)
            ).serializingDownloadedFileURL().response
            #expect(response.value == target)
            #expect(response.fileURL == target)
            #expect(try content.firstDifference(fromFileAt: target.path) == nil)
            #expect(try folder.files() == ["deep/er/file.bin"])
        }
    }

    /// Until the destination is known, the file may be the successor of a private one.
    @Test(arguments: [nil, 0o600, 0o640, 0o644] as [Int?])
    func thePartialFileIsPrivateAndTheFileHasTheAccessOfItsPlace(_ old: Int?) async throws {
        @Sendable func mode(_ path: String) throws -> Int? {
            try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        }
        try await withTestServer { server async throws in
            server.serve("/f", content)
            #expect(FileManager.default.createFile(atPath: folder.path("new"), contents: nil))
            let target = URL(fileURLWithPath: folder.path("file"))
            if let old {
                #expect(
                    FileManager.default.createFile(
                        atPath: target.path, contents: nil, attributes: [.posixPermissions: old]))
            }
            let modes = Mutex<[Int?]>([])
            let file = session.download(
                server.url("/f"),
                to: { temporary, _ in
                    let found = try? mode(temporary.path)
                    modes.withLock { $0.append(found) }
                    return (target, .removePreviousFile)
                })
            #expect(try await file.serializingDownloadedFileURL().value == target)
            #expect(modes.withLock { $0 } == [0o600])
            #expect(try mode(target.path) == old ?? mode(folder.path("new")))
            // A file that stays in the temporary folder is an ordinary one, too.
            let kept = try await session.download(server.url("/f")).serializingDownloadedFileURL().value
            #expect(try mode(kept.path) == mode(folder.path("new")))
            #expect(try folder.files().count == 3)
        }
    }

    @Test func aMissingFolderIsAMoveFailureUnlessItMayBeMade() async throws {
        try await withTestServer { server async throws in
            server.serve("/f", .text("x"))
            let target = URL(fileURLWithPath: folder.path("none/file"))
            let error = await session.download(server.url("/f"), to: DownloadRequest.destination(target))
                .serializingDownloadedFileURL().response.error
            guard case .downloadedFileMoveFailed(let cause as CocoaError, _, target) = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(cause.code == .fileNoSuchFile)
            #expect(cause.userInfo[NSUnderlyingErrorKey] is TransferError)
            #expect(try folder.files() == [])
        }
    }

    @Test func aFileThatIsThereIsOnlyReplacedWhenThatIsAllowed() async throws {
        try await withTestServer { server async throws in
            server.serve("/f", .text("new"))
            let target = URL(fileURLWithPath: try folder.write("old", to: "file"))
            let refused = await session.download(server.url("/f"), to: DownloadRequest.destination(target))
                .serializingDownloadedFileURL().response
            #expect((refused.error?.underlyingError as? CocoaError)?.code == .fileWriteFileExists)
            #expect(try folder.text("file") == "old")
            let allowed = await session.download(
                server.url("/f"), to: DownloadRequest.destination(target, options: .removePreviousFile)
            ).serializingDownloadedFileURL().response
            #expect(allowed.error == nil)
            #expect(try folder.text("file") == "new")
        }
    }

    @Test func theSuggestedDestinationTakesTheServersNameMadeSafe() async throws {
        try await withTestServer { server async throws in
            let field: HeaderFields = ["Content-Disposition": "attachment; filename=\"../../evil.txt\""]
            server.serve("/f", ServedFile(.text("x"), headers: field))
            let suggest = DownloadRequest.suggestedDownloadDestination()
            let folder = folder
            let destination: DownloadRequest.Destination = { temporary, response in
                let name = suggest(temporary, response).destinationURL.lastPathComponent
                return (URL(fileURLWithPath: folder.path(name)), [])
            }
            let url = try await session.download(server.url("/f"), to: destination)
                .serializingDownloadedFileURL().value
            #expect(url.path == folder.path("evil.txt"))
        }
    }

    @Test func theBodyOfAnErrorIsTheFileUnlessItIsValidated() async throws {
        try await withTestServer { server async throws in
            server.script("/f", [], afterwards: .status(404, body: .text("gone")))
            #expect(try await session.download(server.url("/f")).serializingString().value == "gone")
            let refused = await session.download(server.url("/f")).validate().serializingString().response
            #expect(refused.error?.responseCode == 404)
            #expect(refused.resumeData == nil)
        }
    }

    @Test func aRetryAfterAnErrorPageReplacesItAtTheDestination() async throws {
        try await withTestServer { server async throws in
            server.serve("/f", .text("file"))
            server.script("/f", [.status(503, body: .text("a long page about an error"))])
            let target = URL(fileURLWithPath: folder.path("file"))
            let value = try await session.download(
                server.url("/f"), interceptor: RetryPolicy(exponentialBackoffScale: 0.001),
                to: DownloadRequest.destination(target)
            ).validate().serializingString().value
            #expect(value == "file")
        }
    }

    @Test func anEmptyFileIsADownloadToo() async throws {
        try await withTestServer { server async throws in
            server.serve("/f", .empty)
            let url = try await session.download(server.url("/f")).serializingDownloadedFileURL().value
            #expect(try Data(contentsOf: url).isEmpty)
        }
    }

    @Test func aCodedBodyIsNeitherAskedForNorContinued() async throws {
        try await withTestServer { server async throws in
            server.serve("/f", content, etag: "\"1\"")
            server.script("/f", [.gzip.and(.cut(after: 300_000))])
            let response = await session.download(server.url("/f")).serializingDownloadedFileURL().response
            #expect(response.error != nil)
            #expect(response.resumeData == nil)
            #expect(server.requests.first?.headers["Accept-Encoding"] == "identity")
        }
    }

    @Test func progressRunsUpToTheWholeFile() async throws {
        try await withTestServer { server async throws in
            server.serve("/f", content)
            server.script("/f", [.stall(after: 200_000)])
            let calls = Calls<(Int64, Int64)>()
            let task = session.download(server.url("/f"))
                .downloadProgress(queue: testQueue) { calls.add(($0.completedUnitCount, $0.totalUnitCount)) }
                .serializingDownloadedFileURL()
            let part = await calls.first { $0.0 == 200_000 }
            #expect(part?.1 == 600_000)
            server.release()
            _ = try await task.value
            let last = await calls.first { $0.0 == 600_000 }
            #expect(last?.1 == 600_000)
            #expect(calls.all.map(\.0) == calls.all.map(\.0).sorted())
        }
    }

    @Test func progressWithoutALengthIsIndeterminateUntilTheEnd() async throws {
        try await withTestServer { server async throws in
            server.serve("/f", content)
            server.script("/f", [.chunked().and(.stall(after: 200_000))])
            let calls = Calls<(Int64, Int64)>()
            let request = session.download(server.url("/f"))
                .downloadProgress(queue: testQueue) { calls.add(($0.completedUnitCount, $0.totalUnitCount)) }
            let task = request.serializingDownloadedFileURL()
            #expect(await calls.first { $0.0 > 0 }?.1 == -1)
            server.release()
            _ = try await task.value
            #expect(await calls.first { $0.0 == 600_000 }?.1 == 600_000)
            #expect(request.downloadProgress.fractionCompleted == 1)
        }
    }

    @Test func aPlainCancelLeavesNothing() async throws {
        try await withTestServer { server async throws in
            server.serve("/f", content, etag: "\"1\"")
            server.script("/f", [.stall(after: 300_000)])
            let started = Calls<Void>()
            let request = session.download(server.url("/f")).downloadProgress(queue: testQueue) { _ in started.add(()) }
            let task = request.serializingDownloadedFileURL()
            await started.first()
            request.cancel()
            let response = await task.response
            #expect(response.error?.isExplicitlyCancelledError == true)
            #expect(response.resumeData == nil)
            #expect(try folder.files() == [])
        }
    }
}
