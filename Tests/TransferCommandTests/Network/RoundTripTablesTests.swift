import Foundation
import Testing

/// The agreement of the article about round trips with the numbers that are counted here.
@Suite struct RoundTripTablesTests {
    private static let article = URL(fileURLWithPath: #filePath).resolvingSymlinksInPath().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .appendingPathComponent("Sources/TransferKit/TransferKit.docc/RoundTrips.md")

    @Test func theArticleIsMadeOfTheTable() throws {
        let text = try String(contentsOf: Self.article, encoding: .utf8)
        var made = text
        let start = try #require(made.range(of: "<!-- table -->\n"))
        let end = try #require(made.range(of: "<!-- end -->", range: start.upperBound..<made.endIndex))
        made.replaceSubrange(start.upperBound..<end.lowerBound, with: RoundTripRow.markdown)
        if ProcessInfo.processInfo.environment["TRANSFER_TABLES"] == "write" {
            return try made.write(to: Self.article, atomically: true, encoding: .utf8)
        }
        #expect(made == text, "the article is not what the table says; `make tables` writes it")
    }

    @Test func noRowPromisesLessThanItsProtocolNeeds() {
        for row in RoundTripRow.all { #expect(row.further >= row.least && row.first > row.further, "\(row.title)") }
    }

    /// A busy machine can only increase the count: the smallest of a few counts is the right one.
    @Test(arguments: RoundTripRow.all) func aSmallFileTakesTheRoundTripsOfTheTable(_ row: RoundTripRow) async throws {
        guard row.isWanted else { return }
        var (first, three) = (Int.max, Int.max)
        for _ in 0..<4 {
            first = min(first, try await row.start().run(1))
            three = min(three, try await row.start().run(3))
            if first <= row.first, three <= row.first + 2 * row.further { break }
        }
        let further = Double(three - first) / 2
        // Tickets of a TLS server may come between the client's end of the handshake and its request, which does not
        // wait for them.
        let tickets = row.hasTickets ? 1 : 0
        #expect(
            (row.first...row.first + tickets).contains(first) && further == Double(row.further),
            "\(first), then \(further)")
    }
}
