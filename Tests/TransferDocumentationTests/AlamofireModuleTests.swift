import Foundation
import Testing
import TransferTestSupport

/// The package `Alamofire`, with which a program keeps `import Alamofire`.
@Suite("The module Alamofire", .timeLimit(.minutes(3)))
struct AlamofireModuleTests {
    @Test(arguments: [5, 6])
    func aProgramKeepsItsImport(_ version: Int) async throws {
        let program = """
            import Alamofire
            import class Alamofire.Session
            import struct Alamofire.HTTPHeaders
            import protocol Alamofire.RequestInterceptor

            extension Alamofire.Session { func own() -> Alamofire.DataRequest { request("https://a/") } }
            extension Alamofire.HTTPHeaders { var first: String? { value(for: "First") } }

            struct Router: Alamofire.URLRequestConvertible {
                func asURLRequest() throws -> URLRequest { try URLRequest(url: "https://a/", method: .get) }
            }

            final class Monitor: Alamofire.EventMonitor {
                let queue = DispatchQueue(label: "monitor")
                func request(_ request: Alamofire.Request, didGatherMetrics metrics: URLSessionTaskMetrics) {}
            }

            func load(_ session: Session) -> [Alamofire.Request] {
                let parameters: Alamofire.Parameters = ["a": 1]
                _ = NetworkReachabilityManager(host: "a")?.isReachable
                _ = Alamofire.NetworkReachabilityManager.default
                _ = Alamofire.AF.request("https://a/").validate()
                return [
                    session.own(), AF.request(Router()),
                    AF.request("https://a/", method: .post, parameters: parameters, encoding: JSONEncoding.default),
                ]
            }
            """
        let sources = [("program.swift", program), ("empty.swift", "")]
        let found = try await SwiftTypecheck.run(sources, version: version, library: Self.library)
        #expect(found.map(\.description) == [])
    }

    /// The documents' own text, which `DocumentTests` compiles with `import TransferKit`.
    @Test(arguments: ["Document000", "Document002", "Document003"])
    func theTextOfADocumentCompiles(_ document: String) async throws {
        let program = try DocumentedBlock.text(of: "Tests/TransferNetworkingTests/Documents/\(document).swift.txt")
        let moved = program.replacingOccurrences(of: "import TransferKit\n", with: "import Alamofire\n")
        #expect(moved != program)
        let found = try await SwiftTypecheck.run([("main.swift", moved)], version: 5, library: Self.library)
        #expect(found.filter { $0.kind == "error" }.map(\.description) == [])
    }

    /// Each name that Alamofire publishes at its top level is also found behind the module's name.
    @Test func namesWrittenWithTheModuleAreFound() async throws {
        let names = try DocumentedBlock.text(of: "scripts/api/names.txt").split(separator: "\n")
            .filter { !$0.hasPrefix("#") && !$0.hasPrefix("+") }
            .map { String($0.prefix { $0 != ":" }) }.filter { !$0.contains(".") && $0 != "AF" }
        #expect(names.count > 50)
        var program = "import Alamofire\nimport TransferKitCombine\nlet session = Alamofire.AF\n"
        for name in names { program += "typealias Own\(name) = Alamofire.\(name)\n" }
        let sources = [("program.swift", program), ("empty.swift", "")]
        let found = try await SwiftTypecheck.run(sources, version: 5, library: Self.library)
        #expect(found.filter { $0.kind == "error" }.map(\.description) == [])
    }

    private static let library = SwiftTypecheck.Library(
        "Alamofire",
        sources: [DocumentedBlock.root.appendingPathComponent("Alamofire/Sources/Alamofire/Alamofire.swift")])
}
