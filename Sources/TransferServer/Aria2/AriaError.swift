import HTTPTypes
import TransferQueue

/// A refusal in aria2's words.
struct AriaError: Error {
    let code: Int
    let message: String
    /// The response of the HTTP API to the same error; `nil` for refusals of aria2's own.
    private(set) var problem: Problem?

    /// Creates an error.
    ///
    /// - Parameter code: 1 for the refusal of a method; other codes are those of JSON-RPC.
    init(_ message: String, code: Int = 1) {
        self.code = code
        self.message = message
    }

    static let unauthorized = AriaError("Unauthorized")
    static let parse = AriaError("Parse error.", code: -32700)
    static let invalidParameters = AriaError("Invalid params.", code: -32602)
    static let invalidRequest = AriaError("Invalid Request.", code: -32600)

    static func notFound(_ gid: String) -> AriaError { AriaError("GID \(gid) is not found") }
    static func option(_ name: String) -> AriaError {
        AriaError("We encountered a problem while processing the option '--\(name)'.")
    }

    /// Creates an error from one of the queue.
    init(_ error: any Error) {
        switch error {
        case let error as AriaError: self = error
        default:
            let problem = Problem(error)
            self.init(problem.detail + (problem.hint.map { $0.isEmpty ? "" : "; \($0)" } ?? ""))
            self.problem = problem
        }
    }

    /// The HTTP status of a single call. aria2 uses 500 for text that is not JSON and for parameters that are no list, and
    /// 400 for all other errors. A temporary condition is 503, so that clients and proxies ask again.
    var status: Int {
        if problem?.status == .serviceUnavailable { return 503 }
        return [Self.parse.code, Self.invalidParameters.code].contains(code) ? 500 : 400
    }

    var value: JSONValue { .object(["code": .number(String(code)), "message": .string(message)]) }
}
