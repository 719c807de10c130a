/// The head of a request as it arrived.
public struct RequestHead: Sendable, Equatable {
    /// The method, such as `GET`.
    public var method: String
    /// The target as sent: `/x?q=1`, or `http://host/x` where the server is used as a proxy.
    public var target: String
    /// The path without the query.
    public var path: String
    /// The query without the question mark; `nil` for none.
    public var query: String?
    /// The host in lower case without the port, from an absolute target (RFC 9112, section 3.2.2) or else from Host.
    public var host: String
    /// The version of the protocol, such as `HTTP/1.1`.
    public var version: String
    /// The header fields.
    public var headers: HeaderFields

    /// The value of Range; `nil` for none.
    public var range: String? { headers["Range"] }
    /// The value of If-Range; `nil` for none.
    public var ifRange: String? { headers["If-Range"] }
}

/// A request for a handler: the head, and the body in memory.
@dynamicMemberLookup
public struct Request: Sendable {
    /// The head of the request.
    public var head: RequestHead
    /// The body of the request.
    public var body: [UInt8]
    /// The number of the connection, from 1; requests with the same number shared one.
    public var connection = 0

    /// The value of a property of the head.
    public subscript<Value>(dynamicMember member: KeyPath<RequestHead, Value>) -> Value { head[keyPath: member] }
}

/// The response of a handler.
public struct Response: Sendable {
    /// The status.
    public var status: Int
    /// The header fields.
    public var headers: HeaderFields
    /// The body.
    public var body: Content

    /// Creates a response, by default an empty one with status 200.
    public init(status: Int = 200, headers: HeaderFields = [:], body: Content = .empty) {
        self.status = status
        self.headers = headers
        self.body = body
    }
}

enum StatusText {
    static func reason(_ status: Int) -> String {
        switch status {
        case 100: "Continue"
        case 103: "Early Hints"
        case 200: "OK"
        case 201: "Created"
        case 202: "Accepted"
        case 203: "Non-Authoritative Information"
        case 204: "No Content"
        case 205: "Reset Content"
        case 206: "Partial Content"
        case 301: "Moved Permanently"
        case 302: "Found"
        case 303: "See Other"
        case 304: "Not Modified"
        case 307: "Temporary Redirect"
        case 308: "Permanent Redirect"
        case 400: "Bad Request"
        case 401: "Unauthorized"
        case 403: "Forbidden"
        case 404: "Not Found"
        case 405: "Method Not Allowed"
        case 406: "Not Acceptable"
        case 407: "Proxy Authentication Required"
        case 408: "Request Timeout"
        case 409: "Conflict"
        case 410: "Gone"
        case 412: "Precondition Failed"
        case 413: "Content Too Large"
        case 415: "Unsupported Media Type"
        case 416: "Range Not Satisfiable"
        case 417: "Expectation Failed"
        case 422: "Unprocessable Content"
        case 429: "Too Many Requests"
        case 500: "Internal Server Error"
        case 501: "Not Implemented"
        case 502: "Bad Gateway"
        case 503: "Service Unavailable"
        case 504: "Gateway Timeout"
        default: "Status \(status)"
        }
    }
}
