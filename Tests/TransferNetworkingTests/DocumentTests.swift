import Foundation
import Testing
import TransferTestSupport

/// The documents' own text, extracted by `scripts/document-snippets`, with `import TransferKit` and nothing else.
@Suite("The documents' text, compiled", .timeLimit(.minutes(3)))
struct DocumentTests {
    @Test(arguments: ["Document000", "Document002", "Document003"], [5, 6])
    func theTextOfADocumentCompiles(_ document: String, _ version: Int) async throws {
        let found = try await SwiftTypecheck.run(file(document), version: version)
        #expect(found.filter { $0.kind == "error" }.map(\.description) == [])
    }

    @Test func aProgramOfSwift5GetsNoWarning() async throws {
        #expect(try await SwiftTypecheck.run(file("Swift5Program"), version: 5).map(\.description) == [])
    }

    /// The blocks of Alamofire 4's documents that compile, and the compiler's messages for the others, by the line of
    /// the block.
    @Test(arguments: ["Document001", "Document004"])
    func theCompilerSaysHowAProgramOfVersion4Moves(_ document: String) async throws {
        let errors = try await SwiftTypecheck.run(file(document), version: 5).filter { $0.kind == "error" }
        let places = try places(of: document)
        var seen: Set<String> = []
        let lines = errors.map { error in
            let place = places.last { $0.line < error.line }?.place ?? "?"
            return "\(place)\t\(error.isHint ? "hint" : "none")\t\(error.message)"
        }.filter { seen.insert($0).inserted }
        let text = lines.map { $0 + "\n" }.joined()
        let path = Self.folder.appendingPathComponent("\(document).hints")
        if ProcessInfo.processInfo.environment["TRANSFER_TABLES"] == "write" {
            try text.write(to: path, atomically: true, encoding: .utf8)
        }
        #expect(try String(contentsOf: path, encoding: .utf8) == text)
    }

    /// The list has the compiler's message and the migration if we cannot offer a hint.
    @Test func eachBlockWithoutAHintIsListedWithItsReason() throws {
        var listed: [String: String] = [:]
        let rows = try String(contentsOf: Self.folder.appendingPathComponent("unhinted.txt"), encoding: .utf8)
        for row in rows.split(separator: "\n") where !row.hasPrefix("#") {
            let columns = row.split(separator: "\t").map(String.init)
            #expect(columns.count == 3 && listed[columns[0]] == nil, "\(row)")
            listed[columns[0]] = columns[1]
        }
        var found: [String: [String]] = [:]
        var hinted: Set<String> = []
        for document in ["Document001", "Document004"] {
            let text = try String(contentsOf: Self.folder.appendingPathComponent("\(document).hints"), encoding: .utf8)
            for line in text.split(separator: "\n") {
                let columns = line.split(separator: "\t").map(String.init)
                let block = "\(document.suffix(3)) \(columns[0])"
                if columns[1] == "hint" { hinted.insert(block) }
                found[block, default: []].append(columns[2])
            }
        }
        let without = found.filter { !hinted.contains($0.key) }
        #expect(Set(without.keys) == Set(listed.keys))
        for (block, words) in listed { #expect(without[block]?.contains(words) == true, "\(block): \(words)") }
    }

    private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent(
        "Documents")

    private func file(_ name: String) -> URL { Self.folder.appendingPathComponent("\(name).swift.txt") }

    /// Returns the blocks of a file: the line of their comment there, and their line in the document.
    private func places(of name: String) throws -> [(line: Int, place: String)] {
        let text = try String(contentsOf: file(name), encoding: .utf8)
        return text.split(separator: "\n", omittingEmptySubsequences: false).enumerated().compactMap { index, line in
            line.wholeMatch(of: /\/\/ \d{3}:(\d+)/).map { (index + 1, String($0.1)) }
        }
    }
}
