import TransferTestServer

/// A fault of one request. Faults can be combined: `.ignoreRange.and(.cut(after: 1000))`.
public struct ServerFault: Sendable {
    let fault: Fault

    /// The absence of a fault: the request is answered correctly.
    public static let none = ServerFault(fault: .none)

    /// Returns the combination of both faults.
    public func and(_ other: ServerFault) -> ServerFault { ServerFault(fault: fault.and(other.fault)) }
}

// Faults of the connection. Offsets count bytes of the response's body.
extension ServerFault {
    /// Ends the connection after exactly that many bytes; the head is always sent.
    public static func cut(after bytes: Int64) -> ServerFault { ServerFault(fault: .cut(after: bytes)) }

    /// Resets the connection after that many bytes.
    public static func reset(after bytes: Int64) -> ServerFault { ServerFault(fault: .reset(after: bytes)) }

    /// The fault that the connection ends before the first byte of a response.
    public static let closeBeforeHead = ServerFault(fault: .closeBeforeHead)

    /// Stops sending after that many bytes, until the client disconnects or ``ScriptedServer/release(_:)`` is called.
    public static func stall(after bytes: Int64) -> ServerFault { ServerFault(fault: .stall(after: bytes)) }

    /// The fault that the head waits until the client disconnects or ``ScriptedServer/release(_:)`` is called.
    public static let holdHead = ServerFault(fault: .holdHead)

    /// Sends that many bytes in each interval.
    public static func trickle(_ bytes: Int, every interval: Duration) -> ServerFault {
        ServerFault(fault: .trickle(bytes, every: interval))
    }
}

// Faults of the response.
extension ServerFault {
    /// Answers with another status, without a body.
    ///
    /// - Parameters:
    ///   - status: The status code.
    ///   - headers: The header fields, for example `["Retry-After": "1"]`.
    public static func status(_ status: Int, headers: [String: String] = [:]) -> ServerFault {
        ServerFault(fault: .status(status, headers: HeaderFields(headers)))
    }

    /// Redirects the client to another location.
    public static func redirect(to location: String, status: Int = 302) -> ServerFault {
        ServerFault(fault: .redirect(to: location, status: status))
    }

    /// The fault that a Range is answered with the whole file and 200.
    public static let ignoreRange = ServerFault(fault: .ignoreRange)

    /// The fault that any request is answered with 416.
    public static let rangeNotSatisfiable = ServerFault(fault: .rangeNotSatisfiable)

    /// The fault that Content-Length is missing, so that the body ends with the connection.
    public static let noContentLength = ServerFault(fault: .noContentLength)

    /// Declares a Content-Length that is too large by that many bytes, or too small for a negative number.
    public static func contentLength(off bytes: Int64) -> ServerFault { ServerFault(fault: .contentLength(off: bytes)) }

    /// Sends the body in chunks.
    ///
    /// - Parameter size: The size of each chunk, in bytes.
    public static func chunked(size: Int = 8192) -> ServerFault { ServerFault(fault: .chunked(size: size)) }

    /// Sets a header field of the response; `nil` removes it.
    public static func header(_ name: String, _ value: String?) -> ServerFault {
        ServerFault(fault: .header(name, value))
    }

    /// Replaces the file from this request on; a download that is continued has to notice.
    ///
    /// - Parameters:
    ///   - body: The new bytes.
    ///   - etag: The new validator, with its quotes; `nil` sends none.
    public static func replace(with body: ServedBody, etag: String?) -> ServerFault {
        ServerFault(fault: .replace(with: ServedFile(body.content, etag: etag)))
    }
}

// Faults of uploads. Offsets count bytes of the request's body.
extension ServerFault {
    /// Resets the connection after that many bytes have arrived.
    public static func cutUpload(after bytes: Int64) -> ServerFault { ServerFault(fault: .cutUpload(after: bytes)) }

    /// Stops reading after that many bytes, until the client disconnects or ``ScriptedServer/release(_:)`` is called.
    public static func stallUpload(after bytes: Int64) -> ServerFault { ServerFault(fault: .stallUpload(after: bytes)) }

    /// Sends the status before the body is read, and ends the connection.
    public static func answerEarly(_ status: Int, headers: [String: String] = [:]) -> ServerFault {
        ServerFault(fault: .answerEarly(status, headers: HeaderFields(headers)))
    }

    /// The fault that the body is read and kept, but the connection ends without a response. The client cannot know
    /// whether the body was received.
    public static let loseAnswer = ServerFault(fault: .loseAnswer)
}
