import Foundation
import TransferTestSupport

/// A block of Swift in the documentation: in an article, in the README, or in a comment of a source.
struct DocumentedBlock: Sendable, CustomStringConvertible {
    /// The path from the package's folder.
    let file: String
    /// The number of its first line.
    let line: Int
    let lines: [String]

    var description: String { "\(file):\(line)" }
    var text: String { lines.joined(separator: "\n") }

    /// Whether the block is a fragment of a Package.swift.
    var isManifest: Bool { text.contains(".package(") || text.contains(".product(") }

    /// The modules that the block names itself, or else those of the product to which its document belongs.
    var imports: [String] {
        let own = lines.filter { $0.hasPrefix("import ") }.map { String($0.dropFirst("import ".count)) }
        guard own.isEmpty else { return own }
        switch file.split(separator: "/").dropFirst().first {
        case "TransferJobs", "TransferStore", "TransferFolders", "TransferQueue": return ["TransferQueue"]
        case "TransferService", "TransferMetrics", "TransferTesting", "TransferKitCombine":
            return [String(file.split(separator: "/")[1])]
        default: return ["TransferKit"]
        }
    }

    // MARK: Reading

    static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    static func text(of file: String) throws -> String {
        try String(contentsOf: root.appendingPathComponent(file), encoding: .utf8)
    }

    /// Returns all blocks of README.md, CONTRIBUTING.md, the articles and the comments below `Sources`.
    static func all() throws -> [DocumentedBlock] {
        var files = ["README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md"]
        let sources = try FileManager.default.subpathsOfDirectory(atPath: root.appendingPathComponent("Sources").path)
        files += sources.sorted().filter { $0.hasSuffix(".swift") || $0.hasSuffix(".md") }.map { "Sources/" + $0 }
        return try files.flatMap(blocks)
    }

    static func blocks(of file: String) throws -> [DocumentedBlock] {
        var blocks: [DocumentedBlock] = []
        var current: (line: Int, indent: Int, lines: [String])?
        let lines = try text(of: file).split(separator: "\n", omittingEmptySubsequences: false)
        for (index, line) in lines.enumerated() {
            var content = line
            if file.hasSuffix(".swift") {
                content = line.drop { $0 == " " }
                guard content.hasPrefix("///") else {
                    current = nil
                    continue
                }
                content = content.dropFirst(3)
            }
            let trimmed = content.drop { $0 == " " }
            if let block = current {
                if trimmed.hasPrefix("```") {
                    blocks.append(DocumentedBlock(file: file, line: block.line, lines: block.lines))
                    current = nil
                } else {
                    current?.lines.append(String(content.dropFirst(min(block.indent, content.count - trimmed.count))))
                }
            } else if trimmed == "```swift" {
                current = (index + 2, content.count - trimmed.count, [])
            }
        }
        return blocks
    }

    // MARK: Compiling

    /// Whether the block stands at the top of a file: a whole program, or code that cannot be inside a function.
    private var isAtTop: Bool {
        lines.contains {
            $0.hasPrefix("@main") || $0.hasPrefix("@Suite") || $0.hasPrefix("@Test") || $0.hasPrefix("extension ")
        }
    }

    /// - Parameters:
    ///   - given: The declarations that the document assumes, for the body of a function.
    ///   - number: A number that makes its names unique.
    ///   - withUmbrella: Whether the umbrella module replaces that of the queue.
    func source(given: String, number: Int, withUmbrella: Bool = false) -> (name: String, text: String) {
        let head = imports.map { "import \(withUmbrella && $0 == "TransferQueue" ? "TransferKit" : $0)\n" }.joined()
        let code = lines.filter { !$0.hasPrefix("import ") }.joined(separator: "\n")
        let body: String
        if isAtTop {
            body = code.replacingOccurrences(of: "@main\n", with: "")
        } else {
            body = "func block\(number)() async throws {\n\(given)\ndo {\n\(code)\n}\n}\n"
        }
        return ("block\(number).swift", head + body)
    }
}
