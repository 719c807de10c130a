// Faults of the connection. Offsets count body bytes of the response, without the framing of chunks.
extension Fault {
    /// The connection ends (FIN) after exactly so many body bytes; the head is always sent.
    public static func cut(after bytes: Int64) -> Fault { response(.mark(.cut, after: bytes)) }

    /// The connection is reset (RST) once the client's kernel has so many body bytes.
    public static func reset(after bytes: Int64) -> Fault { response(.mark(.reset, after: bytes)) }

    /// FIN before the first byte of a response.
    public static let closeBeforeHead = response(.opening(.nothing(.cut)))

    /// RST before the first byte of a response.
    public static let resetBeforeHead = response(.opening(.nothing(.reset)))

    /// Sends nothing more after so many body bytes, until the client leaves or ``TestServer/release(_:)``.
    public static func stall(after bytes: Int64) -> Fault { response(.mark(.stall, after: bytes)) }

    /// The head waits until the client leaves or ``TestServer/release(_:)``.
    public static let holdHead = response(.opening(.heldHead))

    /// So many body bytes per interval.
    public static func trickle(_ bytes: Int, every interval: Duration) -> Fault {
        response(.pace(bytes: bytes, interval: interval))
    }

    /// Says `Connection: close` and does so after the response.
    public static let closeAfterwards = response(.close)
}

// Faults of the message.
extension Fault {
    /// Content-Length differs from the body by so many bytes: positive for a body that ends too early.
    public static func contentLength(off: Int64) -> Fault { response(.framing(.length(off: off))) }

    /// No Content-Length; the body ends with the connection.
    public static let noContentLength = response(.framing(.untilClose))

    public static func chunked(size: Int = 8192) -> Fault { response(.framing(.chunked(size: size))) }

    /// `GET` with a Range is answered with the whole file and 200.
    public static let ignoreRange = Fault(steps: [.request(.ignoreRange)])

    /// 206 with this range, whatever was asked, and even when no range was.
    public static func serveRange(_ range: Range<Int64>) -> Fault { Fault(steps: [.request(.serveRange(range))]) }

    public static let missingContentRange = response(.noContentRange)

    /// Content-Range names another place than the bytes come from; its length stays.
    public static func wrongContentRange(shiftedBy bytes: Int64) -> Fault { response(.contentRangeShift(bytes)) }

    /// The total length in Content-Range; `nil` for `*`.
    public static func contentRangeTotal(_ total: Int64?) -> Fault { response(.contentRangeTotal(total)) }

    /// A 206 comes as multipart/byteranges, with two parts when it is long enough.
    public static let multipartRanges = response(.multipart)

    /// 416 whatever the range, with the file's length in Content-Range.
    public static let rangeNotSatisfiable = Fault(steps: [.rangeNotSatisfiable])

    public static func status(_ status: Int, headers: HeaderFields = [:], body: Content = .empty) -> Fault {
        Fault(steps: [.answer(Response(status: status, headers: headers, body: body))])
    }

    public static func redirect(to location: String, status: Int = 302) -> Fault {
        .status(status, headers: ["Location": location])
    }

    /// Content-Encoding: gzip. Ranges then are ranges of the coded bytes.
    public static let gzip = Fault(steps: [.resource(.gzip)])

    /// Sets a header field of the response, or removes it. (Content-Length, Content-Range and Transfer-Encoding have
    /// faults of their own; `("Date", "")` leaves Date out.)
    public static func header(_ name: String, _ value: String?) -> Fault { response(.header(name, value)) }

    /// At least so many bytes of further header fields, in lines of 1 KiB.
    public static func oversizedHeaders(_ bytes: Int) -> Fault { response(.padding(bytes)) }

    /// An interim response, `count` times, before the final one.
    public static func interim(_ status: Int = 103, headers: HeaderFields = [:], count: Int = 1) -> Fault {
        response(.interim(.init(status: status, headers: headers), count: count))
    }

    /// These bytes instead of a response, then FIN.
    public static func garbage(_ bytes: [UInt8] = Array("\u{1}\u{2}SSH-2.0-nonsense\r\n\r\n".utf8)) -> Fault {
        response(.opening(.raw(bytes)))
    }
}

// Changes of the file, in force from this request on.
extension Fault {
    public static func changeETag(_ etag: String?) -> Fault { Fault(steps: [.resource(.etag(etag))]) }
    public static func changeLastModified(_ seconds: Int?) -> Fault {
        Fault(steps: [.resource(.lastModified(seconds))])
    }
    public static func replace(with file: ServedFile) -> Fault { Fault(steps: [.resource(.replace(file))]) }
    public static let remove = Fault(steps: [.resource(.remove)])
}

// Faults of uploads. Offsets count body bytes of the request.
extension Fault {
    /// The connection is reset when so many body bytes were received.
    public static func cutUpload(after bytes: Int64) -> Fault { upload(.cut(after: bytes)) }

    /// Nothing more is read after so many body bytes, until the client leaves or ``TestServer/release(_:)``.
    public static func stallUpload(after bytes: Int64) -> Fault { upload(.stall(after: bytes)) }

    /// So many body bytes are read per interval.
    public static func trickleUpload(_ bytes: Int, every interval: Duration) -> Fault {
        upload(.pace(bytes: bytes, interval: interval))
    }

    /// The final status comes before the body is read (instead of 100 when that was expected); the connection ends.
    public static func answerEarly(_ status: Int, headers: HeaderFields = [:], body: Content = .empty) -> Fault {
        upload(.answerEarly(Response(status: status, headers: headers, body: body)))
    }

    /// The final status comes once so many body bytes were read; the connection ends. A longer body isn't needed for it.
    public static func answerUpload(
        after bytes: Int64, _ status: Int, headers: HeaderFields = [:], body: Content = .empty
    ) -> Fault {
        guard bytes > 0 else { return answerEarly(status, headers: headers, body: body) }
        return upload(.answer(after: bytes, Response(status: status, headers: headers, body: body)))
    }

    /// What was asked for is done, and the answer says something else, as gateways do that waited in vain.
    public static func misreport(_ status: Int, headers: HeaderFields = [:], body: Content = .empty) -> Fault {
        upload(.misreport(Response(status: status, headers: headers, body: body)))
    }

    /// Everything is read (and kept by a sink), then FIN without an answer.
    public static let loseAnswer = upload(.loseAnswer)

    /// No 100, although it was expected: the body is read when it comes.
    public static let noContinue = upload(.noContinue)
}

extension Fault {
    private static func response(_ step: ResponseStep) -> Fault { Fault(steps: [.response(step)]) }
    private static func upload(_ step: UploadStep) -> Fault { Fault(steps: [.upload(step)]) }
}
