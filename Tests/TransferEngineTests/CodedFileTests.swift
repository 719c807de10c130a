import Testing
import TransferCore
import TransferEngine
import TransferTestServer
import TransferTestSupport

/// Files that are transferred compressed and stored decoded (``ExchangeSettings/decodesFiles``).
@Suite(.timeLimit(.minutes(1))) struct CodedFileTests {
    private static let content = Content.random(seed: 3, count: 500_000)
    private static let accept = [HeaderField("Accept-Encoding", "gzip, deflate")]

    /// The ways in which the server marks the end of the body.
    static let framings: [String: [Fault]] = [
        "Content-Length": [], "chunked": [.chunked()], "end of the connection": [.noContentLength],
    ]

    private func serve(_ bench: Bench, _ bytes: [UInt8], _ coding: String, _ faults: [Fault] = []) {
        bench.server.serve("/x", ServedFile(.bytes(bytes), etag: "\"a\"", headers: ["Content-Encoding": coding]))
        bench.server.script("/x", faults)
    }

    @Test(arguments: StoredCoding.allCases, framings.keys.sorted())
    func aCodedFileIsStoredDecodedAndItsEndIsProven(_ coding: StoredCoding, _ framing: String) async throws {
        try await Bench.with { bench async throws in
            let coded = coding.coded(Self.content.bytes())
            serve(bench, coded, coding.rawValue, try #require(Self.framings[framing]))
            let attempt = try bench.start(headers: Self.accept) {
                $0.decodesFiles = true
                $0.openEnd = .refused
            }
            let outcome = try await attempt.end()
            #expect(outcome.error == nil && !outcome.isLengthUnproven)
            #expect(try [UInt8](bench.folder.data("x.part")) == Self.content.bytes())
            #expect(outcome.position == 500_000 && outcome.received == Int64(coded.count))
            #expect(outcome.digest?.hex == (try await bench.folder.sha256("x.part")))
            #expect(attempt.meter.position == Int64(coded.count))
            #expect(attempt.meter.total == (framing == "Content-Length" ? Int64(coded.count) : nil))
            // The end mark of the coding is the proof: no HEAD asks for the length.
            #expect(bench.server.requests.map(\.method) == ["GET"])
            #expect(bench.server.requests.first?.headers.all("Accept-Encoding") == ["gzip, deflate"])
        }
    }

    @Test(arguments: StoredCoding.allCases, framings.keys.sorted())
    func aTruncatedStreamFailsAndCannotBeResumed(_ coding: StoredCoding, _ framing: String) async throws {
        let coded = coding.coded(Self.content.bytes())
        for missing in [1, 4, 100_000] {
            try await Bench.with { bench async throws in
                serve(bench, coded.dropLast(missing), coding.rawValue, try #require(Self.framings[framing]))
                let (outcome, _) = try await bench.download(headers: Self.accept) { $0.decodesFiles = true }
                #expect(outcome.error?.code == .badResponse && outcome.error?.isTransient == true, "\(missing)")
                #expect(outcome.error?.message.contains("ends early") == true)
                #expect(outcome.resumeData == nil && !outcome.isUntouched)
            }
        }
    }

    @Test(arguments: StoredCoding.allCases)
    func aLostConnectionCannotBeResumed(_ coding: StoredCoding) async throws {
        try await Bench.with { bench async throws in
            serve(bench, coding.coded(Self.content.bytes()), coding.rawValue, [.cut(after: 400_000)])
            let (outcome, _) = try await bench.download(headers: Self.accept) { $0.decodesFiles = true }
            #expect(outcome.error?.code == .connectionLost && outcome.error?.isTransient == true)
            #expect(outcome.resumeData == nil && !outcome.isUntouched)
        }
    }

    @Test(arguments: StoredCoding.allCases)
    func aStreamWithAnotherByteFails(_ coding: StoredCoding) async throws {
        let coded = coding.coded(Self.content.bytes())
        // An altered byte in the data, which the check value shows, and one in the check value itself.
        for place in [coded.count / 2, coded.count - 6, coded.count - 3] {
            var damaged = coded
            damaged[place] ^= 0x40
            try await Bench.with { bench async throws in
                serve(bench, damaged, coding.rawValue)
                let (outcome, _) = try await bench.download(headers: Self.accept) { $0.decodesFiles = true }
                #expect(outcome.error?.code == .badResponse && outcome.error?.isTransient == true, "\(place)")
                #expect(outcome.error?.message.contains("damaged") == true, "\(place)")
                #expect(outcome.resumeData == nil)
            }
        }
    }

    @Test(arguments: ["rot13", "gzip, rot13"])
    func anUnknownCodingFailsAndIsNotWritten(_ coding: String) async throws {
        try await Bench.with { bench async throws in
            serve(bench, Self.content.bytes(), coding)
            let (outcome, _) = try await bench.download(headers: Self.accept) { $0.decodesFiles = true }
            #expect(outcome.error?.code == .badResponse && outcome.error?.isTransient == false)
            #expect(outcome.error?.message.contains("Content-Encoding is \"\(coding)\"") == true)
            #expect(try bench.folder.data("x.part").isEmpty)
        }
    }

    @Test func anUncompressedAnswerIsStoredAsItIs() async throws {
        try await Bench.with { bench async throws in
            bench.server.serve("/x", ServedFile(Self.content, etag: "\"a\""))
            bench.server.script("/x", [.cut(after: 300_000)], afterwards: Fault.none)
            let (cut, _) = try await bench.download(headers: Self.accept) { $0.decodesFiles = true }
            #expect(cut.error?.code == .connectionLost)
            let (whole, _) = try await bench.download(headers: Self.accept) { $0.decodesFiles = true }
            #expect(whole.error == nil && whole.position == 500_000 && whole.start?.total == 500_000)
            #expect(try [UInt8](bench.folder.data("x.part")) == Self.content.bytes())
        }
    }

    /// An offset in the decoded file has no meaning to a server.
    @Test func aPartialFileIsDiscarded() async throws {
        try await Bench.with { bench async throws in
            serve(bench, StoredCoding.gzip.coded(Self.content.bytes()), "gzip")
            try bench.leavePart(Array(Self.content.bytes().prefix(200_000)))
            let point = ResumePoint(offset: 200_000, validator: Validator(etag: "\"a\""), total: nil)
            let (outcome, _) = try await bench.download(resume: point, headers: Self.accept) { $0.decodesFiles = true }
            #expect(outcome.error == nil && outcome.position == 500_000)
            #expect(bench.server.requests.allSatisfy { $0.headers["Range"] == nil })
            #expect(try [UInt8](bench.folder.data("x.part")) == Self.content.bytes())
        }
    }

    @Test func anEmptyCodedFileIsEmpty() async throws {
        for (framing, faults) in Self.framings {
            try await Bench.with { bench async throws in
                serve(bench, StoredCoding.gzip.coded([]), "gzip", faults)
                let (outcome, _) = try await bench.download(headers: Self.accept) {
                    $0.decodesFiles = true
                    $0.openEnd = .asked
                }
                #expect(outcome.error == nil && outcome.position == 0, "\(framing)")
            }
        }
    }

    /// A body of 100,000 bytes decodes to 96 MiB: it is decoded in several turns, and refused if the known length is
    /// shorter.
    @Test func aSmallBodyThatBecomesLongIsWrittenWholeOrRefused() async throws {
        try await Bench.with { bench async throws in
            let script = "head -c \(96 << 20) /dev/zero | gzip -9 >'\(bench.folder.path("bomb.gz"))'"
            let made = try await ChildProcess.start(ChildProcess.Command("/bin/sh", ["-c", script])).result()
            #expect(made.exitCode == 0)
            let bomb = [UInt8](try bench.folder.data("bomb.gz"))
            #expect(bomb.count < 200_000)
            serve(bench, bomb, "gzip")
            let (outcome, _) = try await bench.download(headers: Self.accept) { $0.decodesFiles = true }
            #expect(outcome.error == nil && outcome.position == 96 << 20 && outcome.received == Int64(bomb.count))
            #expect(bench.folder.size("x.part") == 96 << 20)
            let (refused, _) = try await bench.download(headers: Self.accept) {
                $0.decodesFiles = true
                $0.maxDecodedLength = 1 << 20
            }
            #expect(refused.error?.code == .badResponse && refused.error?.isTransient == false)
            #expect(refused.error?.message.contains("\(1 << 20) bytes") == true)
            // No byte beyond the bound was written.
            #expect(refused.position <= 1 << 20 && (bench.folder.size("x.part") ?? 0) <= 1 << 20)
        }
    }
}
