import Foundation
import Testing
import TransferTestSupport

/// Documents for contributors name files, folders and suites of tests; each of them exists.
@Suite("The files that documents name")
struct NamedFilesTests {
    private static let documents = [
        "CONTRIBUTING.md", "README.md", "SECURITY.md", "Sources/TransferKit/TransferKit.docc/Architecture.md",
    ]

    @Test(arguments: documents)
    func everyNamedFileExists(_ document: String) throws {
        let text = try DocumentedBlock.text(of: document)
        let missing = Self.named(in: text).filter {
            !FileManager.default.fileExists(atPath: DocumentedBlock.root.appendingPathComponent($0).path)
        }
        #expect(missing == [], "\(document) names files that do not exist")
    }

    @Test(arguments: documents)
    func everyNamedSuiteExists(_ document: String) throws {
        let tests = try FileManager.default.subpathsOfDirectory(
            atPath: DocumentedBlock.root.appendingPathComponent("Tests").path)
        let known = Set(tests.map { ($0 as NSString).lastPathComponent })
        let text = try DocumentedBlock.text(of: document)
        let missing = Self.quoted(in: text).filter {
            $0.wholeMatch(of: /[A-Z][A-Za-z0-9]+Tests/) != nil && !known.contains($0 + ".swift") && !known.contains($0)
        }
        #expect(missing == [], "\(document) names suites that do not exist")
    }

    /// The proof that the tests above can fail.
    @Test func aFileThatDoesNotExistIsFound() {
        #expect(Self.named(in: "See `Sources/Nothing.swift` and `make test`.") == ["Sources/Nothing.swift"])
        #expect(Self.quoted(in: "`NothingTests` runs.") == ["NothingTests"])
    }

    private static func named(in text: String) -> [String] {
        quoted(in: text).filter { $0.wholeMatch(of: /(Sources|Tests|scripts|man|examples|jobs)\/[^ *…(]*/) != nil }
    }

    private static func quoted(in text: String) -> [String] {
        text.matches(of: /`([^`\n]+)`/).map { String($0.output.1) }
    }
}
