import TransferQueue

/// A refusal in aria2's words.
struct AriaError: Error {
    let code: Int
    let message: String

    /// Creates an error.
    ///
    /// - Parameter code: 1 for the refusal of a method; other codes are those of JSON-RPC.
    init(_ message: String, code: Int = 1) {
        self.code = code
        self.message = message
    }

    static let unauthorized = AriaError("Unauthorized")
    static let parse = AriaError("Parse error.", code: -32700)
    static let invalidRequest = AriaError("Invalid Request.", code: -32600)

    static func notFound(_ gid: String) -> AriaError { AriaError("GID \(gid) is not found") }
    static func option(_ name: String) -> AriaError {
        AriaError("We encountered a problem while processing the option '--\(name)'.")
    }

    /// Creates an error from one of the queue.
    init(_ error: any Error) {
        switch error {
        case let error as AriaError: self = error
        case let problem as Problem:
            self.init(problem.detail + (problem.hint.map { $0.isEmpty ? "" : "; \($0)" } ?? ""))
        case let error as TransferError: self.init(error.message)
        default: self.init("the service failed at this call")
        }
    }

    var value: JSONValue { .object(["code": .number(String(code)), "message": .string(message)]) }
}
