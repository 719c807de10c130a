import Testing
import TransferCore
import TransferEngine
import TransferTestServer
import TransferTestSupport

@Suite(.timeLimit(.minutes(1))) struct DownloadTests {
    static let content = Content.random(seed: 1, count: 700_000)
    static let other = Content.random(seed: 2, count: 650_000)
    static let modified = 1_700_000_000

    private func served(_ content: Content = content, etag: String? = "\"a\"", lastModified: Int? = nil) -> ServedFile {
        ServedFile(content, etag: etag, lastModified: lastModified)
    }

    @Test(arguments: [0, 1, 5000, 700_000])
    func fetchesAFile(_ count: Int64) async throws {
        try await Bench.with { bench async throws in
            let content = Content.random(seed: 3, count: count)
            bench.server.serve("/x", served(content))
            let (outcome, log) = try await bench.download()
            #expect(outcome.error == nil && outcome.position == count && outcome.received == count)
            #expect(try content.firstDifference(fromFileAt: bench.file) == nil)
            #expect(outcome.digest?.hex == (try await bench.folder.sha256("x.part")))
            #expect(log.restarts.isEmpty && log.starts.map(\.total) == [count])
            #expect(outcome.finalURL == bench.server.url("/x"))
        }
    }

    @Test(arguments: [1, 1000, 300_000, 699_999])
    func resumesWhereACutConnectionEnded(_ cut: Int64) async throws {
        try await Bench.with { bench async throws in
            bench.server.serve("/x", served())
            bench.server.script("/x", [.cut(after: cut)])
            let first = try await bench.download().outcome
            #expect(
                first.error?.code == .connectionLost && first.error?.isTransient == true
                    && first.error?.scope == .transfer)
            #expect(first.position == cut && first.resumeData?.validator?.etag == "\"a\"")
            let (second, log) = try await bench.download(resume: first.resumePoint)
            #expect(second.error == nil && second.received == 700_000 - cut && log.restarts.isEmpty)
            #expect(second.digest == nil, "the first bytes were not seen by this one")
            #expect(try Self.content.firstDifference(fromFileAt: bench.file) == nil)
            #expect(bench.server.requests.map(\.range) == [nil, "bytes=\(cut)-"])
            #expect(bench.server.requests.map(\.ifRange) == [nil, "\"a\""])
            #expect(bench.server.requests.allSatisfy { $0.headers["Accept-Encoding"] == "identity" })
        }
    }

    @Test func resumesByAStrongDate() async throws {
        try await Bench.with { bench async throws in
            bench.server.serve("/x", served(etag: nil, lastModified: Self.modified))
            bench.server.script("/x", [.cut(after: 1000), .cut(after: 1000)])
            var point: ResumePoint?
            for _ in 0..<2 { point = try await bench.download(resume: point).outcome.resumePoint }
            #expect(try await bench.download(resume: point).outcome.error == nil)
            #expect(
                bench.server.requests.map(\.ifRange) == [
                    nil, "Tue, 14 Nov 2023 22:13:20 GMT", "Tue, 14 Nov 2023 22:13:20 GMT",
                ])
            #expect(bench.server.requests.map(\.range) == [nil, "bytes=1000-", "bytes=2000-"])
            #expect(try Self.content.firstDifference(fromFileAt: bench.file) == nil)
        }
    }

    /// The ways in which the second answer can differ from the first.
    struct Turn: Sendable, CustomTestStringConvertible {
        let name: String
        let fault: Fault
        /// Whether the final file is the other version.
        var isOther = false
        /// The fault of the third answer.
        var more = Fault.none
        var requests = 2
        var testDescription: String { name }
    }

    static let replaced = ServedFile(other, etag: "\"b\"")
    static let turns = [
        Turn(name: "the file was replaced", fault: .replace(with: replaced), isOther: true),
        Turn(
            name: "replaced, with If-Range ignored", fault: .replace(with: replaced).and(.serveRange(1000..<650_000)),
            isOther: true, requests: 3),
        Turn(name: "another tag for the same bytes", fault: .changeETag("\"b\"")),
        Turn(name: "a weak tag now", fault: .changeETag("W/\"a\"")),
        Turn(name: "a range ignored", fault: .ignoreRange, requests: 3),
        Turn(name: "a range always ignored", fault: .ignoreRange, more: .ignoreRange, requests: 3),
        Turn(name: "another range served", fault: .serveRange(0..<700_000)),
        Turn(name: "a range that begins later", fault: .serveRange(1001..<700_000), requests: 3),
        Turn(name: "a wrong Content-Range", fault: .wrongContentRange(shiftedBy: -10), requests: 3),
        Turn(name: "no Content-Range", fault: .missingContentRange, requests: 3),
        Turn(name: "another total", fault: .contentRangeTotal(700_001), requests: 3),
        Turn(name: "an unknown total", fault: .contentRangeTotal(nil)),
        Turn(name: "several ranges for one", fault: .multipartRanges, requests: 3),
        Turn(name: "416", fault: .rangeNotSatisfiable, requests: 3),
        Turn(name: "a coded range", fault: .header("Content-Encoding", "gzip"), requests: 3),
        Turn(name: "less than asked for", fault: .serveRange(1000..<5000), requests: 3),
        Turn(name: "early hints first", fault: .interim(103, count: 3)),
        Turn(name: "chunks", fault: .chunked(size: 777)),
        Turn(name: "no length", fault: .noContentLength),
        Turn(name: "a redirect", fault: .redirect(to: "/x"), requests: 3),
    ]

    /// A server that sends interim 1xx answers without end, and no final answer.
    @Test func interimAnswersWithoutAnEndEndTheTransfer() async throws {
        try await Bench.with { bench in
            bench.server.serve("/x", .text("hello"))
            bench.server.script("/x", [.interim(103, count: 1000)])
            let (outcome, _) = try await bench.download("/x")
            #expect(outcome.error?.code == .badResponse && outcome.error?.isTransient == true)
            #expect(outcome.error?.message.contains("1xx") == true)
        }
    }

    @Test(arguments: turns)
    func everySecondAnswerLeadsToOneCompleteVersion(_ turn: Turn) async throws {
        try await Bench.with { bench async throws in
            bench.server.serve("/x", served())
            bench.server.script("/x", [.cut(after: 1000), turn.fault, turn.more])
            let first = try await bench.download().outcome
            #expect(first.position == 1000)
            let second = try await bench.download(resume: first.resumePoint).outcome
            #expect(second.error == nil)
            #expect(try (turn.isOther ? Self.other : Self.content).firstDifference(fromFileAt: bench.file) == nil)
            #expect(bench.server.requests.count == turn.requests)
        }
    }

    @Test func aReplacedFileWithADateAloneIsFetchedWhole() async throws {
        try await Bench.with { bench async throws in
            bench.server.serve("/x", served(etag: nil, lastModified: Self.modified))
            bench.server.script(
                "/x", [.cut(after: 1000), .replace(with: ServedFile(Self.other, lastModified: Self.modified + 1))])
            let first = try await bench.download().outcome
            let (second, log) = try await bench.download(resume: first.resumePoint)
            #expect(
                second.error == nil && log.restarts.count == 1
                    && log.restarts.first?.contains("changed on server") == true)
            #expect(try Self.other.firstDifference(fromFileAt: bench.file) == nil)
            #expect(second.digest?.hex == (try await bench.folder.sha256("x.part")))
        }
    }

    @Test(arguments: [nil, "W/\"a\""] as [String?])
    func withoutAStrongValidatorItStartsAgain(_ etag: String?) async throws {
        try await Bench.with { bench async throws in
            bench.server.serve("/x", served(etag: etag))
            bench.server.script("/x", [.cut(after: 1000)])
            let first = try await bench.download().outcome
            let (second, log) = try await bench.download(resume: first.resumePoint)
            #expect(second.error == nil && log.restarts.count == 1)
            #expect(bench.server.requests.map(\.range) == [nil, nil])
            #expect(try Self.content.firstDifference(fromFileAt: bench.file) == nil)
        }
    }

    @Test func anAttemptThatNeverGotAnAnswerLosesNothing() async throws {
        try await Bench.with { bench async throws in
            bench.server.serve("/x", served())
            bench.server.script("/x", [.cut(after: 400_000), .status(503), .status(500)])
            let first = try await bench.download().outcome
            for _ in 0..<2 {
                let failed = try await bench.download(resume: first.resumePoint).outcome
                #expect(failed.error != nil && failed.position == 400_000)
                #expect(
                    failed.resumeData == nil,
                    "a record without a validator would take the place of the one that is there")
                let part = try PartFile.open(bench.file)
                #expect(part.initialSize == 400_000 && part.initialRecord?.validator?.etag == "\"a\"")
            }
            #expect(try await bench.download(resume: first.resumePoint).outcome.error == nil)
            #expect(bench.server.requests.last?.range == "bytes=400000-")
            #expect(try Self.content.firstDifference(fromFileAt: bench.file) == nil)
        }
    }

    @Test func manyCutsStillEndInOneFile() async throws {
        try await Bench.with { bench async throws in
            bench.server.serve("/x", served())
            bench.server.script(
                "/x",
                (0..<20).map { index in index % 3 == 0 ? .reset(after: 20_000) : .cut(after: Int64(index) * 1717) })
            var point: ResumePoint?
            var outcome: ExchangeOutcome?
            for _ in 0...20 {
                outcome = try await bench.download(resume: point).outcome
                point = outcome?.resumePoint ?? point
            }
            #expect(outcome?.error == nil)
            #expect(try Self.content.firstDifference(fromFileAt: bench.file) == nil)
        }
    }

    /// Answers that are no file: each ends with this error, which is retryable or not.
    struct Bad: Sendable, CustomTestStringConvertible {
        let name: String
        let fault: Fault
        let code: TransferError.Code
        var isTransient = true
        var scope = TransferError.Scope.transfer
        var testDescription: String { name }
    }

    static let bad = [
        Bad(name: "reset", fault: .reset(after: 1000), code: .connectionLost),
        Bad(name: "reset before the head", fault: .resetBeforeHead, code: .connectionLost),
        Bad(name: "closed before the head", fault: .closeBeforeHead, code: .connectionLost),
        Bad(name: "Content-Length too long", fault: .contentLength(off: 10), code: .connectionLost),
        Bad(name: "chunks cut", fault: Fault.chunked(size: 1000).and(.cut(after: 1500)), code: .connectionLost),
        Bad(
            name: "chunks without an end", fault: Fault.chunked(size: 700_000).and(.cut(after: 700_000)),
            code: .connectionLost),
        Bad(name: "garbage", fault: .garbage(), code: .badResponse),
        Bad(name: "a range nobody asked for", fault: .serveRange(0..<699_999), code: .badResponse, isTransient: false),
        Bad(name: "404", fault: .status(404), code: .httpStatus, isTransient: false),
        Bad(name: "204", fault: .status(204), code: .httpStatus, isTransient: false),
        Bad(
            name: "503 with a pause", fault: .status(503, headers: ["Retry-After": "7"]), code: .httpStatus,
            scope: .origin),
        Bad(
            name: "an error with a long body", fault: .status(500, body: .random(seed: 9, count: 3_000_000)),
            code: .httpStatus),
        Bad(
            name: "a redirect to a file", fault: .redirect(to: "file:///etc/passwd"), code: .redirectRefused,
            isTransient: false),
        Bad(
            name: "a redirect to FTP", fault: .redirect(to: "ftp://127.0.0.1/x"), code: .redirectRefused,
            isTransient: false),
        Bad(name: "a redirect to nowhere", fault: .status(302), code: .badResponse, isTransient: false),
    ]

    @Test(arguments: bad)
    func badAnswersAreFailures(_ bad: Bad) async throws {
        try await Bench.with { bench async throws in
            bench.server.serve("/x", served())
            bench.server.script("/x", [bad.fault])
            let outcome = try await bench.download().outcome
            let error = try #require(outcome.error)
            #expect(
                error.code == bad.code && error.isTransient == bad.isTransient && error.scope == bad.scope, "\(error)")
            // The engine remains usable, over the same connection or a new one.
            #expect(try await bench.download(resume: outcome.resumePoint).outcome.error == nil)
            #expect(try Self.content.firstDifference(fromFileAt: bench.file) == nil)
        }
    }

    @Test func aBodyBeyondItsContentLengthIsNotTaken() async throws {
        try await Bench.with { bench async throws in
            bench.server.serve("/x", served())
            bench.server.script("/x", [.contentLength(off: -5)])
            let outcome = try await bench.download().outcome
            #expect(outcome.error == nil && outcome.position == 699_995)
            #expect(bench.folder.size("x.part") == 699_995)
        }
    }

    @Test func aGzippedAnswerNeverMixesWithAPlainOne() async throws {
        try await Bench.with { bench async throws in
            bench.server.serve("/x", served())
            bench.server.script("/x", [Fault.gzip.and(.cut(after: 1000))])
            let first = try await bench.download().outcome
            #expect(first.resumeData?.contentCoding == "gzip", "coded bytes have no place in the plain file")
            #expect(try await bench.download().outcome.error == nil)
            #expect(try Self.content.firstDifference(fromFileAt: bench.file) == nil)
            // The reverse order: plain bytes first, then a coded answer.
            bench.server.script("/x", [.cut(after: 1000), .gzip])
            let plain = try await bench.download().outcome
            let coded = try await bench.download(resume: plain.resumePoint).outcome
            let isWhole = try Self.content.firstDifference(fromFileAt: bench.file) == nil
            #expect(
                coded.error != nil || isWhole
                    || coded.head?.contentCoding == "gzip" && coded.position == bench.folder.size("x.part"))
        }
    }

    @Test(arguments: [400_000, 3_000_000])
    func oversizedHeadersEndSomehow(_ bytes: Int) async throws {
        try await Bench.with { bench async throws in
            bench.server.serve("/x", served())
            bench.server.script("/x", [.oversizedHeaders(bytes)])
            let outcome = try await bench.download().outcome
            let isWhole = try Self.content.firstDifference(fromFileAt: bench.file) == nil
            #expect(outcome.error != nil || isWhole)
            #expect(try await bench.download().outcome.error == nil)
        }
    }

    @Test func aStallEndsByTheLowSpeedLimit() async throws {
        try await Bench.with { bench async throws in
            bench.server.serve("/x", served())
            // The connection is used a second time. Its earlier establishment must not count as a failure to connect.
            #expect(try await bench.download().outcome.error == nil)
            bench.server.script("/x", [.stall(after: 1000)])
            let outcome = try await bench.download { $0.lowSpeedTime = .seconds(1) }.outcome
            #expect(
                outcome.error?.code == .timedOut && outcome.error?.isTransient == true
                    && outcome.error?.scope == .transfer, "\(String(describing: outcome.error))")
            #expect(outcome.position == 1000)
            #expect(try await bench.download(resume: outcome.resumePoint).outcome.error == nil)
            #expect(try Self.content.firstDifference(fromFileAt: bench.file) == nil)
            #expect(bench.server.requests.map(\.connection) == [1, 1, 2])
        }
    }

    @Test func aHeldHeadEndsByTheLowSpeedLimitOnAFreshConnectionToo() async throws {
        try await Bench.with { bench async throws in
            bench.server.serve("/x", served())
            bench.server.script("/x", [.holdHead])
            let outcome = try await bench.download { $0.lowSpeedTime = .seconds(1) }.outcome
            #expect(outcome.error?.code == .timedOut && outcome.error?.scope == .transfer)
        }
    }

    @Test func theLongestTimeHolds() async throws {
        try await Bench.with { bench async throws in
            bench.server.serve("/x", served())
            bench.server.script("/x", [.stall(after: 1000)])
            let outcome = try await bench.download { $0.maxTime = .milliseconds(200) }.outcome
            #expect(outcome.error?.code == .timedOut)
        }
    }

    @Test func aVeryLongTimeIsNotAShortOne() async throws {
        try await Bench.with { bench async throws in
            bench.server.serve("/x", served())
            let outcome = try await bench.download {
                // Truncated to 32 bits, these milliseconds would be 4 ms.
                $0.maxTime = .milliseconds(Int64(1) << 32 + 4)
                $0.connectTimeout = .seconds(Int64.max)
            }.outcome
            #expect(outcome.error == nil)
        }
    }

    @Test func aTrickleComesWhole() async throws {
        try await Bench.with { bench async throws in
            let content = Content.random(seed: 4, count: 40)
            bench.server.serve("/x", served(content))
            bench.server.script("/x", [.trickle(1, every: .milliseconds(5))])
            #expect(try await bench.download { $0.lowSpeedTime = .seconds(1) }.outcome.error == nil)
            #expect(try content.firstDifference(fromFileAt: bench.file) == nil)
        }
    }

    @Test func aRefusedConnectionIsAnError() async throws {
        try await Bench.with { bench async throws in
            let gone = try TestServer()
            let url = gone.url("/x")
            gone.stop()
            let error = try await bench.download(url).outcome.error
            #expect(error?.code == .cannotConnect && error?.isTransient == true && error?.scope == .origin)
        }
    }

    @Test(arguments: [
        "", "x", "file:///etc/passwd", "gopher://127.0.0.1/x", "http://", "http:///x", "http://127.0.0.1:0/",
        "http://[::1/x", "http://a b/",
    ])
    func badURLsFailAtOnce(_ url: String) async throws {
        try await Bench.with { bench async throws in
            let part = try PartFile.open(bench.file)
            let log = ExchangeLog()
            let workers = bench.engine.workers
            bench.engine.start(
                ExchangeRequest(url: url, intent: .representation(nil)),
                makeSink: {
                    FileSink(part, offset: 0, url: url, algorithm: nil, workers: workers, state: FileSinkState())
                }, events: log.receive)
            let error = await log.outcome.error
            #expect(error?.code == .badURL && error?.isTransient == false, "\(String(describing: error))")
            #expect(log.ends == 1)
        }
    }

    @Test func smallFilesShareConnections() async throws {
        try await Bench.with { bench async throws in
            bench.server.serve("/x", served(.random(seed: 5, count: 4096)))
            for _ in 0..<30 { #expect(try await bench.download().outcome.error == nil) }
            #expect(bench.server.connectionCount == 1)
        }
    }

    @Test func manyAtOnceEachGetTheirOwnBytes() async throws {
        try await Bench.with(loops: 2) { bench async throws in
            let files = (0..<120).map { (index: Int64) in Content.random(seed: UInt64(index), count: 1000 + index * 997)
            }
            for (index, content) in files.enumerated() { bench.server.serve("/\(index)", served(content)) }
            let attempts = try files.indices.map { try bench.start("/\($0)", to: bench.folder.path("\($0)")) }
            for (index, attempt) in attempts.enumerated() {
                #expect(await attempt.log.outcome.error == nil && attempt.log.ends == 1)
                #expect(try files[index].firstDifference(fromFileAt: bench.folder.path("\(index)")) == nil)
            }
        }
    }
}
