import Foundation
import TransferTestSupport

/// A block of Swift in the documentation: of an article, of the README, or of a comment in a source.
struct DocumentedBlock: Sendable, CustomStringConvertible {
    /// From the package's folder.
    let file: String
    /// Of its first line.
    let line: Int
    let lines: [String]

    var description: String { "\(file):\(line)" }
    var text: String { lines.joined(separator: "\n") }

    /// A fragment of a Package.swift.
    var isManifest: Bool { text.contains(".package(") || text.contains(".product(") }

    /// The modules that it names itself, else those of the product that its place belongs to.
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

    /// All of README.md, CONTRIBUTING.md, the articles and the comments beneath `Sources`.
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

    /// Whether it stands at the top of a file: whole programs, and what can't be inside a function.
    private var isAtTop: Bool {
        lines.contains {
            $0.hasPrefix("@main") || $0.hasPrefix("@Suite") || $0.hasPrefix("@Test") || $0.hasPrefix("extension ")
        }
    }

    /// - Parameters:
    ///   - given: What its document takes for given, as declarations of a function's body.
    ///   - number: Makes its names unique.
    ///   - withUmbrella: With the umbrella in the place of the queue alone.
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
