import HTTPTypes
import Hummingbird
import NIOCore
import NIOHTTP1
import TransferCore
import TransferQueue

/// A refusing response (RFC 9457), with words for people and a code for programs.
struct Problem: HTTPResponseError {
    /// A fault of the request's body, with its place.
    struct Fault: Sendable {
        /// The JSON Pointer (RFC 6901); empty for the whole body.
        var pointer = ""
        var line: Int?
        var column: Int?
        var detail: String
    }

    let status: HTTPResponse.Status
    let code: String
    let detail: String
    var hint: String?
    var errors: [Fault] = []
    var headers: HTTPFields = [:]

    init(_ status: HTTPResponse.Status, _ code: String, _ detail: String, hint: String? = nil) {
        self.status = status
        self.code = code
        self.detail = detail
        self.hint = hint
    }

    static func malformed(_ detail: String) -> Problem { Problem(.badRequest, "malformed", detail) }
    static func notFound(_ detail: String) -> Problem { Problem(.notFound, "notFound", detail) }
    static func conflict(_ code: String, _ detail: String) -> Problem { Problem(.conflict, code, detail) }

    /// Returns the response for a temporary condition (RFC 9110 §15.6.4).
    static func unavailable(_ code: String, _ detail: String) -> Problem {
        var problem = Problem(.serviceUnavailable, code, detail)
        problem.headers[.retryAfter] = "5"
        return problem
    }

    /// The response to a request that the end of the service has interrupted.
    private static var ending: Problem { .unavailable("ending", "the service is about to end") }

    /// Whether the operator has to be informed: the client is not at fault.
    var isOfService: Bool { status.code >= 500 || code == TransferError.Code.rightMissing.rawValue }

    static func forbidden(_ code: String, _ detail: String, hint: String? = nil) -> Problem {
        Problem(.forbidden, code, detail, hint: hint)
    }

    /// Returns the response to a client without a secret, or with a wrong one (RFC 6750 §3).
    static func unauthorized(hasShown: Bool) -> Problem {
        var problem = Problem(
            .unauthorized, "unauthorized", hasShown ? "the secret is wrong" : "a secret is required",
            hint: "send it as Authorization: Bearer SECRET")
        problem.headers[.wwwAuthenticate] = hasShown ? "Bearer error=\"invalid_token\"" : "Bearer"
        return problem
    }

    /// Creates a response from an error of the queue.
    init(_ error: any Error) {
        switch error {
        case let problem as Problem: self = problem
        case let error as TransferError:
            switch error.code {
            case .fileMissing: self.init(.notFound, "notFound", error.message)
            case .fileExists: self.init(.conflict, "conflict", error.message)
            case .badURL, .invalidRequest: self.init(.unprocessableContent, error.code.rawValue, error.message)
            case .cannotConnect where error.isTransient, .connectionLost where error.isTransient:
                self = .unavailable(error.code.rawValue, "the queue's database is away: \(error.message)")
            case .cancelled: self = .ending
            case _ where error.isTransient: self = .unavailable(error.code.rawValue, error.message)
            // The client has its rights, and asks in vain until an operator acts.
            case .rightMissing:
                self.init(.forbidden, error.code.rawValue, "the service lacks a right: \(error.message)")
            default: self.init(.internalServerError, error.code.rawValue, error.message)
            }
        case is CancellationError: self = .ending
        case is HTTPParserError: self = .malformed("the body is not what its fields say")
        case let error as any HTTPResponseError:
            self.init(error.status, "http\(error.status.code)", error.status.reasonPhrase)
        default: self.init(.internalServerError, "internalFault", "the service failed at this request")
        }
    }

    var body: [UInt8] {
        JSONWriter.bytes { writer in
            writer.member("type", "about:blank")
            writer.member("title", status.reasonPhrase)
            writer.member("status", status.code)
            writer.member("code", code)
            writer.member("detail", detail)
            writer.member("hint", hint.flatMap { $0.isEmpty ? nil : $0 })
            guard !errors.isEmpty else { return }
            writer.member("errors", objects: errors) { writer, fault in
                writer.member("pointer", fault.pointer)
                writer.member("line", fault.line)
                writer.member("column", fault.column)
                writer.member("detail", fault.detail)
            }
        }
    }

    func response(from request: Request, context: some RequestContext) -> Response { response }

    var response: Response {
        var headers = headers
        headers[.contentType] = "application/problem+json"
        return Response(status: status, headers: headers, body: ResponseBody(byteBuffer: ByteBuffer(bytes: body)))
    }
}
