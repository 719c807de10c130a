import Foundation
import Testing

@testable import transfer

/// The agreement of the article for users of other tools with the options that the command answers.
@Suite struct MovingTablesTests {
    private static let article = URL(fileURLWithPath: #filePath).resolvingSymlinksInPath().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()
        .appendingPathComponent("Sources/TransferKit/TransferKit.docc/MovingFromOtherTools.md")

    @Test func theArticleIsMadeOfTheTables() throws {
        let text = try String(contentsOf: Self.article, encoding: .utf8)
        var made = text
        let tables = [
            ("fronts", FrontsTable.markdown), ("lists", ListTable.markdown), ("options", OptionsTable.markdown),
        ]
        for (mark, table) in tables {
            let start = try #require(made.range(of: "<!-- \(mark) -->\n"))
            let end = try #require(made.range(of: "<!-- end -->", range: start.upperBound..<made.endIndex))
            made.replaceSubrange(start.upperBound..<end.lowerBound, with: table)
        }
        if ProcessInfo.processInfo.environment["TRANSFER_TABLES"] == "write" {
            return try made.write(to: Self.article, atomically: true, encoding: .utf8)
        }
        let changes = made.components(separatedBy: "\n").difference(from: text.components(separatedBy: "\n"))
        #expect(changes.isEmpty, "the article is not what the table says; `make tables` writes it: \(changes)")
    }

    @Test func eachOptionOfTheTableHasALine() {
        let lines = OptionsTable.markdown.split(separator: "\n").dropFirst(2)
        #expect(lines.count == ForeignOptions.all.count)
        for option in ForeignOptions.all {
            for name in option.names { #expect(lines.contains { $0.contains("`\(name)`") }, "\(name)") }
        }
    }
}
