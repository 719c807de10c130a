import Foundation
import Testing

/// The seed inputs of the fuzzers, and inputs that once failed.
@Suite struct RegressionTests {
    @Test(arguments: FuzzTarget.allCases) func holds(_ target: FuzzTarget) throws {
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        var count = 0
        for kind in ["corpus", "regressions"] {
            let place = folder.appendingPathComponent("\(kind)/\(target.rawValue)").path
            for name in (try? FileManager.default.contentsOfDirectory(atPath: place)) ?? [] {
                let bytes = try Data(contentsOf: URL(fileURLWithPath: "\(place)/\(name)"))
                #expect(throws: Never.self, "\(kind)/\(target.rawValue)/\(name)") { try target.check(Array(bytes)) }
                count += 1
            }
        }
        #expect(count > 0, "it has a corpus")
    }
}
