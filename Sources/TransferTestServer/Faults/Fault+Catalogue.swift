// The faults of the connection. Offsets count body bytes of the response, without the framing of chunks.
extension Fault {
    /// Returns a fault that ends the connection (FIN) after exactly this number of body bytes; the head is always sent.
    public static func cut(after bytes: Int64) -> Fault { response(.mark(.cut, after: bytes)) }

    /// Returns a fault that resets the connection (RST) once the client's kernel has this number of body bytes.
    public static func reset(after bytes: Int64) -> Fault { response(.mark(.reset, after: bytes)) }

    /// A fault that sends FIN before the first byte of a response.
    public static let closeBeforeHead = response(.opening(.nothing(.cut)))

    /// A fault that sends RST before the first byte of a response.
    public static let resetBeforeHead = response(.opening(.nothing(.reset)))

    /// Returns a fault that sends nothing more after this number of body bytes, until the client disconnects or
    /// ``TestServer/release(_:)`` is called.
    public static func stall(after bytes: Int64) -> Fault { response(.mark(.stall, after: bytes)) }

    /// A fault that delays the head until the client disconnects or ``TestServer/release(_:)`` is called.
    public static let holdHead = response(.opening(.heldHead))

    /// Returns a fault that sends this number of body bytes in each interval.
    public static func trickle(_ bytes: Int, every interval: Duration) -> Fault {
        response(.pace(bytes: bytes, interval: interval))
    }

    /// A fault that sends `Connection: close` and closes the connection after the response.
    public static let closeAfterwards = response(.close)
}

// The faults of the message.
extension Fault {
    /// Returns a fault whose Content-Length differs from the body by this number of bytes; a positive number makes the
    /// body end too early.
    public static func contentLength(off: Int64) -> Fault { response(.framing(.length(off: off))) }

    /// A fault without Content-Length; the body ends with the connection.
    public static let noContentLength = response(.framing(.untilClose))

    /// Returns a fault that sends the body in chunks of this number of bytes.
    public static func chunked(size: Int = 8192) -> Fault { response(.framing(.chunked(size: size))) }

    /// A fault that answers a `GET` with a Range by the whole file and 200.
    public static let ignoreRange = Fault(steps: [.request(.ignoreRange)])

    /// Returns a fault that answers with 206 and this range, whatever the requested range is, and even without one.
    public static func serveRange(_ range: Range<Int64>) -> Fault { Fault(steps: [.request(.serveRange(range))]) }

    /// A fault that leaves out Content-Range.
    public static let missingContentRange = response(.noContentRange)

    /// Returns a fault whose Content-Range names a different offset from that of the bytes sent; the length stays.
    public static func wrongContentRange(shiftedBy bytes: Int64) -> Fault { response(.contentRangeShift(bytes)) }

    /// Returns a fault with this total length in Content-Range; `nil` sends `*`.
    public static func contentRangeTotal(_ total: Int64?) -> Fault { response(.contentRangeTotal(total)) }

    /// A fault that sends a 206 as multipart/byteranges, with two parts if it is long enough.
    public static let multipartRanges = response(.multipart)

    /// A fault that answers 416 to any range, with the file's length in Content-Range.
    public static let rangeNotSatisfiable = Fault(steps: [.rangeNotSatisfiable])

    /// Returns a fault that answers with this status, header fields and body.
    public static func status(_ status: Int, headers: HeaderFields = [:], body: Content = .empty) -> Fault {
        Fault(steps: [.answer(Response(status: status, headers: headers, body: body))])
    }

    /// Returns a fault that redirects to a location.
    public static func redirect(to location: String, status: Int = 302) -> Fault {
        .status(status, headers: ["Location": location])
    }

    /// A fault that codes the body with gzip. Ranges then refer to the coded bytes.
    public static let gzip = Fault(steps: [.resource(.gzip)])

    /// Returns a fault that sets a header field of the response, or removes it for `nil`. Content-Length, Content-Range
    /// and Transfer-Encoding have faults of their own; `("Date", "")` leaves Date out.
    public static func header(_ name: String, _ value: String?) -> Fault { response(.header(name, value)) }

    /// Returns a fault that adds at least this number of bytes of header fields, in lines of 1 KiB.
    public static func oversizedHeaders(_ bytes: Int) -> Fault { response(.padding(bytes)) }

    /// Returns a fault that sends an interim response `count` times before the final one.
    public static func interim(_ status: Int = 103, headers: HeaderFields = [:], count: Int = 1) -> Fault {
        response(.interim(.init(status: status, headers: headers), count: count))
    }

    /// Returns a fault that sends these bytes instead of a response, then FIN.
    public static func garbage(_ bytes: [UInt8] = Array("\u{1}\u{2}SSH-2.0-nonsense\r\n\r\n".utf8)) -> Fault {
        response(.opening(.raw(bytes)))
    }
}

// The changes of the file, in force from this request on.
extension Fault {
    /// Returns a change of the file's ETag; `nil` removes it.
    public static func changeETag(_ etag: String?) -> Fault { Fault(steps: [.resource(.etag(etag))]) }
    /// Returns a change of the file's modification time, in seconds since 1970; `nil` removes it.
    public static func changeLastModified(_ seconds: Int?) -> Fault {
        Fault(steps: [.resource(.lastModified(seconds))])
    }
    /// Returns a replacement of the file.
    public static func replace(with file: ServedFile) -> Fault { Fault(steps: [.resource(.replace(file))]) }
    /// A removal of the file.
    public static let remove = Fault(steps: [.resource(.remove)])
}

// The faults of uploads. Offsets count body bytes of the request.
extension Fault {
    /// Returns a fault that resets the connection once this number of body bytes has been received.
    public static func cutUpload(after bytes: Int64) -> Fault { upload(.cut(after: bytes)) }

    /// Returns a fault that reads nothing more after this number of body bytes, until the client disconnects or
    /// ``TestServer/release(_:)`` is called.
    public static func stallUpload(after bytes: Int64) -> Fault { upload(.stall(after: bytes)) }

    /// Returns a fault that reads this number of body bytes in each interval.
    public static func trickleUpload(_ bytes: Int, every interval: Duration) -> Fault {
        upload(.pace(bytes: bytes, interval: interval))
    }

    /// Returns a fault that sends the final status before the body is read, instead of an expected 100, and ends the
    /// connection.
    public static func answerEarly(_ status: Int, headers: HeaderFields = [:], body: Content = .empty) -> Fault {
        upload(.answerEarly(Response(status: status, headers: headers, body: body)))
    }

    /// Returns a fault that sends the final status once this number of body bytes has been read, and ends the
    /// connection. The body need not be longer.
    public static func answerUpload(
        after bytes: Int64, _ status: Int, headers: HeaderFields = [:], body: Content = .empty
    ) -> Fault {
        guard bytes > 0 else { return answerEarly(status, headers: headers, body: body) }
        return upload(.answer(after: bytes, Response(status: status, headers: headers, body: body)))
    }

    /// Returns a fault that executes the request but sends a different response, like a gateway after a timeout.
    public static func misreport(_ status: Int, headers: HeaderFields = [:], body: Content = .empty) -> Fault {
        upload(.misreport(Response(status: status, headers: headers, body: body)))
    }

    /// A fault that reads the whole body (which a sink keeps), then sends FIN without a response.
    public static let loseAnswer = upload(.loseAnswer)

    /// A fault that sends no 100, although it is expected; the body is read when it arrives.
    public static let noContinue = upload(.noContinue)
}

extension Fault {
    private static func response(_ step: ResponseStep) -> Fault { Fault(steps: [.response(step)]) }
    private static func upload(_ step: UploadStep) -> Fault { Fault(steps: [.upload(step)]) }
}
