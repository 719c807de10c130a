import Testing
import TransferQueue

@testable import transfer

/// Tables and labelled lines fit every terminal, and no cell is cut.
@Suite struct TextTableTests {
    static let widths = [40, 60, 80, 120]

    private static let long = "https://files.example/a/very/long/path/to/a/folder/with-a-long-name/release-2026.tar.gz"

    private static let status = (0..<3).map { number in
        BatchStatusRow(
            name: "nightly-\(number)-of-all-the-films", state: "running", done: 142_911, total: 200_000, failed: 3,
            skipped: 1, cancelled: 2, waiting: 1_204, rate: 61_700_000, eta: .seconds(546), pid: 4_121)
    }

    private static let failed = [
        FailedJobRow(
            job: "images/98/981240.jpg", code: "httpStatus", reason: "404 Not Found, as the server said \(long)",
            status: 404, host: "cdn.example", attempts: 3)
    ]

    private static func isFit(_ lines: [String], _ width: Int) -> Bool {
        lines.allSatisfy { DisplayWidth.of($0) <= width }
    }

    @Test(arguments: widths) func theTableOfBatchesFits(_ width: Int) {
        let lines = StatusTable.lines(Self.status, charset: .utf8, width: width)
        #expect(Self.isFit(lines, width), "\(lines)")
        let text = lines.joined(separator: "\n")
        for cell in ["nightly-2-of-all-the-films", "142,911/200,000", "1,204", "4121", "CANCELLED"] {
            #expect(text.contains(cell), "\(cell): \(lines)")
        }
    }

    @Test(arguments: widths) func theTableOfFailuresFits(_ width: Int) {
        let lines = FailedTable.lines(Self.failed, charset: .utf8, width: width)
        #expect(Self.isFit(lines, width), "\(lines)")
        // A URL that is wider than the terminal is all there, in several lines.
        #expect(lines.joined().filter { $0 != " " }.contains("release-2026.tar.gz"), "\(lines)")
    }

    @Test(arguments: widths) func aTableThatIsWrittenPageByPageFits(_ width: Int) {
        var table = GrowingTable([("STATE", .left), ("BYTES", .right), ("URL", .left)], width: width)
        let lines =
            table.lines(of: [["done", "1 KiB", "https://a.example/x"]]) + table.lines(of: [["failed", "-", Self.long]])
        #expect(Self.isFit(lines, width), "\(lines)")
        #expect(lines.first == "STATE  BYTES  URL", "\(lines)")
    }

    @Test func columnsThatFitAreColumns() {
        var table = TextTable(("NAME", .left), ("SIZE", .right))
        table.add(["a", "1,024"])
        #expect(table.lines(width: 11) == ["NAME   SIZE", "a     1,024"])
        #expect(table.lines() == table.lines(width: 11))
    }

    @Test func columnsThatDoNotFitAreBlocks() {
        var table = TextTable(("NAME", .left), ("STATE", .left), ("SIZE", .right), ("RATE", .left))
        table.add(["a-long-name", "running", "1,024", "-"])
        #expect(table.lines(width: 27) == ["a-long-name", "  STATE running  SIZE 1,024"])
        #expect(table.lines(width: 26) == ["a-long-name", "  STATE running", "  SIZE 1,024"])
    }

    @Test func outputThatIsNoTerminalIsNotWrapped() {
        let lines = StatusTable.lines(Self.status, charset: .utf8)
        #expect(lines.count == 4 && lines[0].hasPrefix("BATCH"))
    }

    @Test(arguments: widths) func labelledLinesFit(_ width: Int) {
        let line = "  rule      the network that the job asks for is metered, and the rule forbids it, as \(Self.long)"
        let lines = TextWrap.labelled(line, width: width, indent: 12)
        #expect(Self.isFit(lines, width), "\(lines)")
        #expect(lines[0].hasPrefix("  rule      the network"))
        #expect(lines.dropFirst().allSatisfy { $0.hasPrefix("            ") })
        #expect(lines.joined().filter { $0 != " " } == line.filter { $0 != " " })
    }

    @Test(arguments: ["漢字漢字漢字漢字", "e\u{301}e\u{301}e\u{301}"], [1, 2, 3, 7])
    func charactersThatAreWideOrCombinedEndTheLine(_ text: String, _ width: Int) {
        let lines = TextWrap.pieces([text], width: width)
        #expect(lines.joined() == text)
        #expect(width == 1 || Self.isFit(lines, width), "\(lines)")
    }
}
