import Foundation
import Testing
import TransferTestSupport

@testable import transfer

/// The agreement of the article about the command with the command.
@Suite struct CommandTablesTests {
    private static let root = URL(fileURLWithPath: #filePath).resolvingSymlinksInPath().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()
    private static let article = root.appendingPathComponent("Sources/TransferKit/TransferKit.docc/TheCommand.md")

    @Test func theTablesOfOptionsAreWhatTheParserTakes() async throws {
        let words = [
            Self.root.appendingPathComponent("scripts/option-tables").path, "--check", try TransferCommand.binary(),
            Self.article.path,
        ]
        let result = try await ChildProcess.start(ChildProcess.Command("/usr/bin/python3", words)).result()
        #expect(result.exitCode == 0, "`make tables` writes them; lines that differ: \(result)")
    }

    @Test func everyEventIsInTheArticle() throws {
        let text = try String(contentsOf: Self.article, encoding: .utf8)
        for (kind, name, _) in JSONLinesTests.all { #expect(text.contains("`\(name)`"), "\(kind)") }
        // Every name in a line of the documentation stands for a kind.
        let reported = text.matches(of: #/`((batch|job)\.[a-z]+)`/#).map { String($0.output.1) }
        let known = Set(JSONLinesTests.all.map(\.name) + ["batch.commanded", "job.authorized"])
        #expect(Set(reported).subtracting(known) == [])
    }

    @Test func everyExitStatusIsInTheArticleAndInTheManualPage() throws {
        let text = try String(contentsOf: Self.article, encoding: .utf8)
        let page = try String(contentsOf: Self.root.appendingPathComponent("man/transfer.1"), encoding: .utf8)
        for status in ExitStatus.allCases {
            #expect(text.contains("\n| \(status.rawValue) |"), "\(status)")
            #expect(page.contains("\n.It \(status.rawValue)\n"), "\(status)")
        }
    }
}
