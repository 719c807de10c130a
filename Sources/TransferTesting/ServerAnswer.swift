import TransferTestServer

/// The answer of a test's own function (``ScriptedServer/answer(_:_:by:)``).
public struct ServerAnswer: Sendable {
    /// The status code.
    public var status: Int
    /// Header fields. Date and Content-Length are added.
    public var headers: [String: String]
    /// The bytes that follow them.
    public var body: ServedBody

    /// Makes an answer.
    public init(status: Int = 200, headers: [String: String] = [:], body: ServedBody = .bytes([])) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    var response: Response { Response(status: status, headers: HeaderFields(headers), body: body.content) }
}

/// A request as it arrived.
public struct ReceivedRequest: Sendable {
    /// `GET`, `PUT` …
    public let method: String
    /// Without the query.
    public let path: String
    /// What follows the `?`; `nil` where there is none.
    public let query: String?
    /// The name in Host, in lower case and without the port.
    public let host: String
    /// Header fields in the order in which they came.
    public let headers: [(name: String, value: String)]
    /// Empty in the log of requests (``ScriptedServer/requests``).
    public let body: [UInt8]
    /// From 1; requests with the same number had the same connection.
    public let connection: Int

    /// The first header field of that name, in whichever case.
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

/// What came to a path that takes uploads (``ScriptedServer/acceptUploads(_:status:)``).
public struct AcceptedUploads: Sendable {
    let sink: UploadSink

    /// Each upload, in the order in which they ended.
    public var all: [Upload] { sink.uploads.map(Upload.init) }

    /// One body that came.
    public struct Upload: Sendable {
        /// `PUT`, `POST` or `PATCH`.
        public let method: String
        /// Without the query.
        public let path: String
        /// What arrived.
        public let bytes: [UInt8]
        /// `false` where the connection ended, or a fault cut it, before the body did.
        public let isComplete: Bool
        private let fields: HeaderFields

        init(_ upload: ReceivedUpload) {
            method = upload.method
            path = upload.path
            bytes = upload.bytes
            isComplete = upload.isComplete
            fields = upload.headers
        }

        /// The first header field of that name, in whichever case.
        public func header(_ name: String) -> String? { fields[name] }
    }
}

extension HeaderFields {
    /// In the order of their names, so that an answer is the same each time.
    init(_ headers: [String: String]) {
        self.init()
        for (name, value) in headers.sorted(by: { $0.key < $1.key }) { add(name, value) }
    }
}
