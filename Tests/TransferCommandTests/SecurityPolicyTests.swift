import Foundation
import Testing

/// The tests that SECURITY.md names for its promises, which have to exist.
@Suite struct SecurityPolicyTests {
    private static let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    private static let policy =
        (try? String(contentsOf: root.appendingPathComponent("SECURITY.md"), encoding: .utf8)) ?? ""

    private static func sources(_ target: Substring) -> [String] {
        let folder = root.appendingPathComponent("Tests/\(target)")
        let paths = FileManager.default.enumerator(atPath: folder.path)?.compactMap { $0 as? String } ?? []
        return paths.filter { $0.hasSuffix(".swift") }.compactMap {
            try? String(contentsOf: folder.appendingPathComponent($0), encoding: .utf8)
        }
    }

    private static var name: Regex<(Substring, Substring, Substring, Substring)> {
        /`(\w+Tests)\/(\w+Tests)\/([a-z]\w*)`/
    }

    @Test func everyPromiseNamesATest() throws {
        let start = try #require(Self.policy.range(of: "## What is promised"))
        let end = try #require(Self.policy.range(of: "## What is not promised"))
        let promises = Self.policy[start.upperBound..<end.lowerBound].split(separator: "\n").filter {
            $0.hasPrefix("- ")
        }
        #expect(promises.count > 10)
        for promise in promises { #expect(promise.firstMatch(of: Self.name) != nil, "\(promise)") }
    }

    @Test func everyTestThatIsNamedExists() {
        let named = Self.policy.matches(of: Self.name)
        #expect(named.count > 20)
        for test in named {
            let (target, suite, function) = (test.1, test.2, test.3)
            let isThere = Self.sources(target).contains { source in
                (source.contains("struct \(suite) ") || source.contains("extension \(suite) "))
                    && source.contains("func \(function)(")
            }
            #expect(isThere, "\(target)/\(suite)/\(function)")
        }
    }

    /// The address is not a person's own, which would outlive the interest of its owner.
    @Test func reportsGoToThePlaceOfTheRepository() {
        #expect(Self.policy.contains("private vulnerability reports"))
        #expect(Self.policy.firstMatch(of: /[\w.]+@[\w.]+\.\w+/) == nil)
    }
}
