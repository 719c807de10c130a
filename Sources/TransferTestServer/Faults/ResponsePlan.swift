/// All data sent for one request; faults change the plan before it is written.
struct ResponsePlan: Sendable {
    enum Piece: Sendable {
        case bytes([UInt8])
        case slice(Content, Range<Int64>)

        var count: Int64 {
            switch self {
            case .bytes(let bytes): Int64(bytes.count)
            case .slice(_, let range): range.upperBound - range.lowerBound
            }
        }
    }

    enum Framing: Sendable {
        /// A Content-Length of the true length plus `off`.
        case length(off: Int64)
        case untilClose
        case chunked(size: Int)
    }

    /// A fault of the connection once a number of body bytes has been sent.
    enum Mark: Sendable {
        case cut, reset, stall
    }

    enum Opening: Sendable {
        case head
        /// A head that waits for ``TestServer/release(_:)``.
        case heldHead
        /// Bytes that are sent instead of a response.
        case raw([UInt8])
        /// A fault before the first byte of a response.
        case nothing(Mark)
    }

    var status: Int
    var headers: HeaderFields
    var body: [Piece] = []
    var contentRange: ContentRange?
    var framing = Framing.length(off: 0)
    var opening = Opening.head
    var interim: [Interim] = []
    var marks: [(offset: Int64, mark: Mark)] = []
    var pace: (bytes: Int, interval: Duration)?
    var closes = false

    struct Interim: Sendable {
        var status: Int
        var headers: HeaderFields
    }

    init(status: Int, headers: HeaderFields, body: [Piece] = []) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    init(_ response: Response) {
        self.init(
            status: response.status, headers: response.headers,
            body: [.slice(response.body, 0..<response.body.count)])
    }

    static func unsatisfiable(total: Int64?) -> ResponsePlan {
        let range = total.map { "bytes */\($0)" }
        var plan = ResponsePlan(status: 416, headers: [:])
        plan.headers["Content-Range"] = range
        return plan
    }

    var bodyCount: Int64 { body.reduce(0) { $0 + $1.count } }

    /// Returns whether the response can have a body. Some never have one, whatever their header fields say (RFC 9112,
    /// section 6.3).
    func hasBody(for method: String) -> Bool {
        method != "HEAD" && status != 204 && status != 304 && status >= 200
    }

    func headText(for method: String) -> String {
        var fields = headers
        if fields["Date"] == nil { fields["Date"] = HTTPDate.now }
        if let contentRange { fields["Content-Range"] = contentRange.text }
        switch framing {
        case .length(let off):
            if status != 204, status != 304 { fields["Content-Length"] = "\(max(0, bodyCount + off))" }
        case .untilClose: break
        case .chunked: fields["Transfer-Encoding"] = "chunked"
        }
        if endsConnection { fields["Connection"] = "close" }
        return Self.text(status, fields)
    }

    var endsConnection: Bool {
        switch framing {
        case .length(let off): closes || off != 0
        case .untilClose: true
        case .chunked: closes
        }
    }

    static func text(_ status: Int, _ fields: HeaderFields) -> String {
        var text = "HTTP/1.1 \(status) \(StatusText.reason(status))\r\n"
        // An empty Date, and only that, is left out: scripts remove the field in this way.
        for field in fields.fields where !(field.name == "Date" && field.value.isEmpty) {
            text += "\(field.name): \(field.value)\r\n"
        }
        return text + "\r\n"
    }
}

/// The range in Content-Range, separate from the bytes sent, so that a fault can make the two disagree.
struct ContentRange: Sendable {
    var range: Range<Int64>
    var total: Int64?

    var text: String {
        "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(total.map { "\($0)" } ?? "*")"
    }
}
