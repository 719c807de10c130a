import TransferTestServer

/// The response that a test's own function returns (``ScriptedServer/answer(_:_:by:)``).
public struct ServerAnswer: Sendable {
    /// The status code.
    public var status: Int
    /// The header fields. Date and Content-Length are added.
    public var headers: [String: String]
    /// The body.
    public var body: ServedBody

    /// Makes a response.
    public init(status: Int = 200, headers: [String: String] = [:], body: ServedBody = .bytes([])) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    var response: Response { Response(status: status, headers: HeaderFields(headers), body: body.content) }
}

/// A request as it arrived.
public struct ReceivedRequest: Sendable {
    /// The method, such as `GET` or `PUT`.
    public let method: String
    /// The path without the query.
    public let path: String
    /// The text after the `?`; `nil` without one.
    public let query: String?
    /// The name in the Host field, in lower case and without the port.
    public let host: String
    /// The header fields, in the order in which they arrived.
    public let headers: [(name: String, value: String)]
    /// The body; empty in the log of requests (``ScriptedServer/requests``).
    public let body: [UInt8]
    /// The number of the connection, from 1. Requests with the same number used the same connection.
    public let connection: Int

    /// Returns the value of the first header field of that name, in any case; `nil` without one.
    public func header(_ name: String) -> String? {
        headers.first { $0.name.lowercased() == name.lowercased() }?.value
    }

    init(_ recorded: RecordedRequest) {
        self.init(recorded.head, body: [], connection: recorded.connection)
    }

    init(_ request: Request) {
        self.init(request.head, body: request.body, connection: request.connection)
    }

    private init(_ head: RequestHead, body: [UInt8], connection: Int) {
        method = head.method
        path = head.path
        query = head.query
        host = head.host
        headers = head.headers.fields.map { ($0.name, $0.value) }
        self.body = body
        self.connection = connection
    }
}

/// The uploads to a path that accepts them (``ScriptedServer/acceptUploads(_:status:)``).
public struct AcceptedUploads: Sendable {
    let sink: UploadSink

    /// The uploads, in the order in which they ended.
    public var all: [Upload] { sink.uploads.map(Upload.init) }

    /// An uploaded body.
    public struct Upload: Sendable {
        /// The method: `PUT`, `POST` or `PATCH`.
        public let method: String
        /// The path without the query.
        public let path: String
        /// The bytes that arrived.
        public let bytes: [UInt8]
        /// Whether the whole body arrived; `false` if the connection ended, or a fault cut it, before.
        public let isComplete: Bool
        private let fields: HeaderFields

        init(_ upload: ReceivedUpload) {
            method = upload.method
            path = upload.path
            bytes = upload.bytes
            isComplete = upload.isComplete
            fields = upload.headers
        }

        /// Returns the value of the first header field of that name, in any case; `nil` without one.
        public func header(_ name: String) -> String? { fields[name] }
    }
}

extension HeaderFields {
    /// Takes the fields in the order of their names, so that equal responses have equal bytes.
    init(_ headers: [String: String]) {
        self.init()
        for (name, value) in headers.sorted(by: { $0.key < $1.key }) { add(name, value) }
    }
}
