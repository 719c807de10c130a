import Glibc
import Testing
import TransferCore
import TransferTestSupport

@testable import TransferEngine

/// Bytes that are requested again, because an offset that a file server accepted is no proof.
@Suite("Overlaps with file servers") struct SeamTests {
    @Test(
        arguments: [
            ("ftp://h/f", 100_000, 4096), ("FTPS://h/f", 100_000, 4096), ("ftp://h/f", 10, 10), ("ftp://h/f", 0, 0),
            ("sftp://h/f", 100_000, 0), ("https://h/f", 100_000, 0),
        ] as [(String, Int64, Int64)])
    func onlyServersThatMayIgnoreOffsetsAreAskedForMore(_ url: String, _ offset: Int64, _ expected: Int64) {
        #expect(ResumePoint.overlap(of: url, before: offset) == expected)
    }

    @Test func theRestIsAskedForFromBeforeItsOffsetAndCompared() {
        var point = ResumePoint(offset: 500, validator: Validator(etag: "\"1\""), total: 1000)
        point.overlap = 100
        let rule = ResumeRule(point: point)
        let question = rule.firstQuestion.question
        #expect(question.fields(point).value("Range") == "bytes=400-")
        let part = head(206, ["Content-Range": "bytes 400-999/1000", "ETag": "\"1\""])
        #expect(rule.judge(part, to: question) == .append(overlap: 100, total: 1000))
    }

    /// The answer to a part's request begins before the part, and is written to the file from the part's start on.
    @Test(arguments: [100, 99, 101]) func aPartWithAnOverlapIsTakenAsItWasAskedFor(_ overlap: Int64) {
        var point = ResumePoint(offset: 500, validator: Validator(etag: "\"1\""), total: 1000)
        point.overlap = 100
        point.isPart = true
        point.end = 800
        point.namesEnd = false
        var machine = ExchangeMachine(ExchangeRequest(url: "ftp://h/f", intent: .representation(point)))
        _ = machine.start()
        let part = head(206, ["Content-Range": "bytes \(500 - overlap)-999/1000", "ETag": "\"1\""])
        let action = machine.received(part, redirectTarget: nil, now: 0)
        guard case .deliver(let start) = action else {
            #expect(overlap != 100)
            return
        }
        #expect(overlap == 100 && start.offset == 400 && start.continued == 500)
    }

    @Test func theWholeFileIsComparedWithTheBytesBeforeItsParts() throws {
        let folder = try TemporaryFolder("seams")
        let path = try folder.write("0123456789abcdef", to: "f")
        let descriptor = open(path, O_RDONLY)
        defer { close(descriptor) }
        let seams = SeamList()
        #expect(seams.firstWrong(in: descriptor) == nil)
        seams.add(Array("6789".utf8), before: 10)
        seams.add(Array("23".utf8), before: 4)
        #expect(seams.firstWrong(in: descriptor) == nil)
        seams.add(Array("0123".utf8), before: 12)
        #expect(seams.firstWrong(in: descriptor) == 12)
        // The offset is beyond the end of a shortened file.
        let short = SeamList()
        short.add(Array("0123".utf8), before: 40)
        #expect(short.firstWrong(in: descriptor) == 40)
    }
}
