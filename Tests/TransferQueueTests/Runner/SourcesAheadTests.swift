import Testing
import TransferCore
import TransferEngine
import TransferQueueFixtures
import TransferTestServer
import TransferTestSupport

@testable import TransferJobs
@testable import TransferQueue

/// Whether the file system of the temporary folder reports cached files; on others workers open all sources.
private let isOnDisk = (try? TemporaryFolder("ahead")).flatMap { CachedFolder(of: $0.path("a")) } != nil

/// Sources of small uploads, which are opened before there is a slot for them.
@Suite(.timeLimit(.minutes(1))) struct SourcesAheadTests {
    let folder: TemporaryFolder
    let now = MonotonicTime.seconds(100)

    init() throws { folder = try TemporaryFolder("ahead") }

    private func source(_ name: String, _ text: String = "x") throws -> Result<OpenedSource, TransferError> {
        try folder.write(text, to: name)
        return .success(try OpenedSource(folder.path(name), expected: nil))
    }

    @Test func aSourceOpenedInTimeIsTakenOnce() throws {
        var ahead = SourcesAhead()
        ahead.ask(1)
        #expect(ahead.isAsked(1) && ahead.knows(1) && ahead.room == SourcesAhead.size - 1)
        let result = try source("a")
        ahead.came(1, result)
        ahead.keep(1, result, now: now)
        #expect(!ahead.isAsked(1) && ahead.knows(1) && ahead.areSmall)
        #expect(ahead.take(1, now: now + .milliseconds(99)) != nil)
        #expect(ahead.take(1, now: now) == nil && ahead.room == SourcesAhead.size)
    }

    @Test func anOldSourceIsReadAgain() throws {
        var ahead = SourcesAhead()
        ahead.keep(1, try source("a"), now: now)
        #expect(ahead.take(1, now: now + .milliseconds(100)) == nil)
        #expect(!ahead.knows(1))
    }

    @Test func longFilesAreNotOpenedAhead() throws {
        var ahead = SourcesAhead()
        ahead.came(1, try source("a", String(repeating: "x", count: Int(OpenedSource.smallSize) + 1)))
        #expect(!ahead.areSmall)
        ahead.came(2, try source("b"))
        #expect(ahead.areSmall)
    }

    @Test(.enabled(if: isOnDisk, "the temporary folder is on no disk of this machine"))
    func aCachedFileIsOpenedWithoutAWorker() throws {
        let path = try folder.write("content", to: "a")
        let cached = CachedFolder(of: path)
        var ahead = SourcesAhead()
        let preparation = UploadPreparation(id: 1, path: path, version: nil, expected: nil)
        ahead.came(1, try source("b"))
        #expect(ahead.open(preparation, now: now) == nil && ahead.isUseful)
        ahead.found(cached, now: now)
        // A mount or a rename at the same moment makes the kernel refuse.
        let result = try #require((0..<1000).lazy.compactMap { _ in ahead.open(preparation, now: now) }.first)
        #expect(try result.get().file.isInMemory)
        // Uploads whose sources open this fast need none opened ahead by a worker.
        #expect(ahead.areSmall && !ahead.isUseful)
        let missing = UploadPreparation(id: 2, path: folder.path("missing"), version: nil, expected: nil)
        #expect(ahead.open(missing, now: now) == nil && ahead.isUseful)
        let digested = UploadPreparation(
            id: 3, path: path, version: nil, expected: Checksum("md5:\(String(repeating: "0", count: 32))"))
        #expect(ahead.open(digested, now: now) == nil)
        // A source in a folder whose files may not be opened is left to a worker, too.
        while ahead.open(preparation, now: now) == nil {}
        #expect(!ahead.isUseful)
        ahead.found(nil, now: now)
        #expect(ahead.open(preparation, now: now) == nil && ahead.isUseful)
        // A different folder may have the name after a while.
        ahead.found(cached, now: now)
        #expect(ahead.open(preparation, now: now + .milliseconds(100)) == nil)
    }

    @Test func everyFileArrivesUnchanged() async throws {
        try await withTestServer { server in
            let names = (0..<400).map { "f\($0)" }
            for name in names { try folder.write("content of \(name)", to: "in/\(name)") }
            let sinks = names.map { server.acceptUploads("/\($0)") }
            try await withQueue(folder, limits: BatchLimits(concurrency: 4, perHost: 4)) { queue in
                let jobs = names.map { Sample.upload(folder.path("in/\($0)"), to: server.url("/\($0)"), id: $0) }
                // One of the files is missing, and one is a folder.
                let bad = ["missing", "in"].map {
                    Sample.upload(folder.path($0), to: server.url("/bad-\($0)"), id: "bad-\($0)")
                }
                let totals = try await queue.complete(jobs.prefix(200) + bad + jobs.suffix(200))
                #expect(totals.completed == 400 && totals.failed == 2)
            }
            for (name, sink) in zip(names, sinks) {
                #expect(sink.uploads.map { String(decoding: $0.bytes, as: UTF8.self) } == ["content of \(name)"])
            }
        }
    }
}
