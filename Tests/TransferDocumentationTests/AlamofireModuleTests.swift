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

    /// Declarations of SDKs and network layers: subclasses, conformances, complete lists of errors.
    @Test func whatPackagesDeclareCompiles() async throws {
        let program = """
            import Alamofire

            protocol Logged { var line: String { get } }
            extension Alamofire.DataResponse: Logged { var line: String { debugDescription } }
            extension Alamofire.AFDownloadResponse: Logged { var line: String { debugDescription } }
            extension Alamofire.Request: Logged { var line: String { cURLDescription() } }
            protocol Intercepting {}
            extension AuthenticationInterceptor: Intercepting {}

            class Trust: ServerTrustManager {
                override init(allHostsMustBeEvaluated: Bool = false, evaluators: [String: ServerTrustEvaluating]?) {
                    super.init(allHostsMustBeEvaluated: allHostsMustBeEvaluated, evaluators: evaluators ?? [:])
                }
                override func serverTrustEvaluator(forHost host: String) throws -> ServerTrustEvaluating? {
                    if host.isEmpty { return DefaultTrustEvaluator() }
                    return try super.serverTrustEvaluator(forHost: host)
                }
            }

            class Made: Session {
                init(_ configuration: URLSessionConfiguration) {
                    let delegate = SessionDelegate()
                    super.init(
                        session: URLSession(configuration: configuration), delegate: delegate,
                        rootQueue: DispatchQueue(label: "root"), serverTrustManager: Trust(evaluators: [:]))
                }
            }
            final class Plain: Alamofire.Session { static let shared = Plain(configuration: .default) }

            actor Renewing: RequestInterceptor {
                nonisolated func adapt(
                    _ urlRequest: URLRequest, for session: Session, completion: @escaping (Result<URLRequest, Error>) -> Void
                ) { completion(.success(urlRequest)) }
            }

            func code(_ reason: AFError.ResponseSerializationFailureReason) -> Int {
                switch reason {
                case .inputDataNilOrZeroLength, .inputFileNil, .inputFileReadFailed, .stringSerializationFailed: 1
                case .jsonSerializationFailed, .decodingFailed, .customSerializationFailed, .invalidEmptyResponse: 2
                }
            }
            """
        let sources = [("program.swift", program), ("empty.swift", "")]
        let found = try await SwiftTypecheck.run(sources, version: 5, library: Self.library)
        #expect(found.filter { $0.kind == "error" }.map(\.description) == [])
    }

    /// A delegate that decides or listens itself would never be called. The compiler names the place for its code.
    @Test func aDelegateThatOverridesIsAnswered() async throws {
        let program = """
            import Alamofire

            class Own: SessionDelegate {
                override func urlSession(
                    _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
                    completionHandler: @escaping (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
                ) {}
                override func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: Error?) {}
                override func urlSession(
                    _ session: URLSession, task: URLSessionTask,
                    needNewBodyStream completionHandler: @escaping (InputStream?) -> Void
                ) {}
            }
            """
        let sources = [("program.swift", program), ("empty.swift", "")]
        let found = try await SwiftTypecheck.run(sources, version: 5, library: Self.library)
        for hint in ["Session(serverTrustManager:)", "Session(eventMonitors:)", "upload(streamedBy:)"] {
            #expect(found.contains { $0.kind == "error" && $0.message.contains(hint) }, "\(hint)")
        }
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
