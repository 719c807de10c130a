import TransferTestServer

/// What goes wrong with one request. Faults combine: `.ignoreRange.and(.cut(after: 1000))`.
public struct ServerFault: Sendable {
    let fault: Fault

    /// The request is answered as it should be.
    public static let none = ServerFault(fault: .none)

    /// Both of them.
    public func and(_ other: ServerFault) -> ServerFault { ServerFault(fault: fault.and(other.fault)) }
}

// Faults of the connection. Offsets count bytes of the answer's body.
extension ServerFault {
    /// The connection ends after exactly so many bytes; the head is always sent.
    public static func cut(after bytes: Int64) -> ServerFault { ServerFault(fault: .cut(after: bytes)) }

    /// The connection is reset after so many bytes.
    public static func reset(after bytes: Int64) -> ServerFault { ServerFault(fault: .reset(after: bytes)) }

    /// The connection ends before the first byte of an answer.
    public static let closeBeforeHead = ServerFault(fault: .closeBeforeHead)

    /// Nothing more is sent after so many bytes, until the client leaves or ``ScriptedServer/release(_:)``.
    public static func stall(after bytes: Int64) -> ServerFault { ServerFault(fault: .stall(after: bytes)) }

    /// The head waits until the client leaves or ``ScriptedServer/release(_:)``.
    public static let holdHead = ServerFault(fault: .holdHead)

    /// So many bytes an interval.
    public static func trickle(_ bytes: Int, every interval: Duration) -> ServerFault {
        ServerFault(fault: .trickle(bytes, every: interval))
    }
}

// Faults of the answer.
extension ServerFault {
    /// Another status, with no body.
    ///
    /// - Parameters:
    ///   - status: The status code.
    ///   - headers: Header fields, for example `["Retry-After": "1"]`.
    public static func status(_ status: Int, headers: [String: String] = [:]) -> ServerFault {
        ServerFault(fault: .status(status, headers: HeaderFields(headers)))
    }

    /// The client is sent elsewhere.
    public static func redirect(to location: String, status: Int = 302) -> ServerFault {
        ServerFault(fault: .redirect(to: location, status: status))
    }

    /// A Range is answered with the whole file and 200.
    public static let ignoreRange = ServerFault(fault: .ignoreRange)

    /// 416, whatever the range.
    public static let rangeNotSatisfiable = ServerFault(fault: .rangeNotSatisfiable)

    /// No Content-Length: the body ends with the connection.
    public static let noContentLength = ServerFault(fault: .noContentLength)

    /// Content-Length says so many bytes more (or less) than there are.
    public static func contentLength(off bytes: Int64) -> ServerFault { ServerFault(fault: .contentLength(off: bytes)) }

    /// The body comes in chunks.
    ///
    /// - Parameter size: Bytes of each.
    public static func chunked(size: Int = 8192) -> ServerFault { ServerFault(fault: .chunked(size: size)) }

    /// Sets a header field of the answer; `nil` takes it away.
    public static func header(_ name: String, _ value: String?) -> ServerFault {
        ServerFault(fault: .header(name, value))
    }

    /// The file is another one from this request on: a download that is continued has to notice.
    ///
    /// - Parameters:
    ///   - body: The new bytes.
    ///   - etag: Their validator, with its quotes; `nil` sends none.
    public static func replace(with body: ServedBody, etag: String?) -> ServerFault {
        ServerFault(fault: .replace(with: ServedFile(body.content, etag: etag)))
    }
}

// Faults of uploads. Offsets count bytes of the request's body.
extension ServerFault {
    /// The connection is reset when so many bytes came.
    public static func cutUpload(after bytes: Int64) -> ServerFault { ServerFault(fault: .cutUpload(after: bytes)) }

    /// Nothing more is read after so many bytes, until the client leaves or ``ScriptedServer/release(_:)``.
    public static func stallUpload(after bytes: Int64) -> ServerFault { ServerFault(fault: .stallUpload(after: bytes)) }

    /// The status comes before the body is read, and the connection ends.
    public static func answerEarly(_ status: Int, headers: [String: String] = [:]) -> ServerFault {
        ServerFault(fault: .answerEarly(status, headers: HeaderFields(headers)))
    }

    /// The body is read and kept, and the connection ends without an answer: was it received, or not?
    public static let loseAnswer = ServerFault(fault: .loseAnswer)
}
