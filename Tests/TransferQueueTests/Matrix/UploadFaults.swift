import TransferTestServer

/// The fault of a server during an upload by HTTP.
struct UploadFault: Sendable {
    enum What: Sendable {
        /// A fault of a request that brings bytes of the file, after this number of bytes. With `isWhole` all bytes
        /// have arrived, and the server has not processed them.
        case body(@Sendable (_ after: Int64, _ isWhole: Bool) -> Fault)
        /// A fault of the query for the received bytes, which follows a cut.
        case question(Fault)
        /// A fault of the request that begins an upload and brings no byte of it.
        case creation(Fault)
        /// A fault of the request that joins the parts to a file.
        case joining(Fault)
    }

    var name: String
    var what: What
    /// The status of the answer, if the fault is nothing else.
    var status: Int?
    var isForEver = false
    var stalls = false
    /// Whether the server has carried out the request in spite of the fault.
    var isDone = false

    /// Whether the fault is a success that comes before the body's end.
    var isEarlyReceipt: Bool { name.hasPrefix("201") }
    var isRedirect: Bool { status.map { (300..<400).contains($0) } ?? false }
    /// Whether the fault is in the content of the answer.
    var isOfAnswer: Bool { name == "garbage" || name.hasPrefix("lengths") }

    func forEver() -> UploadFault {
        var fault = self
        (fault.name, fault.isForEver) = (name + ", for ever", true)
        return fault
    }

    static func status(_ status: Int, headers: HeaderFields = [:], body: Content = .empty, _ more: String = "")
        -> UploadFault
    {
        UploadFault(
            name: "\(status)\(more)",
            what: .body { after, isWhole in
                isWhole
                    ? .status(status, headers: headers, body: body)
                    : .answerUpload(after: after, status, headers: headers, body: body)
            }, status: status)
    }

    static func body(_ name: String, _ fault: @escaping @Sendable (Int64, Bool) -> Fault) -> UploadFault {
        UploadFault(name: name, what: .body(fault))
    }

    static let all: [UploadFault] = {
        var faults: [UploadFault] = []
        for number in MatrixStatuses.passing + MatrixStatuses.final { faults.append(.status(number)) }
        for number in [403, 429, 503] { faults.append(UploadFault.status(number).forEver()) }
        faults.append(.status(429, headers: ["Retry-After": "1"], ", Retry-After: 1"))
        faults.append(.status(503, headers: ["Retry-After": "0"], ", Retry-After: 0"))
        for number in [500, 502, 504] {
            var fault = UploadFault.body("\(number), and it was done") { after, isWhole in
                isWhole ? .misreport(number) : .answerUpload(after: after, number)
            }
            (fault.status, fault.isDone) = (number, true)
            faults.append(fault)
        }
        for number in [301, 302, 303, 307, 308] {
            faults.append(.status(number, headers: ["Location": "/page"], " to a page"))
        }
        faults.append(.status(302, " without a Location"))
        faults.append(.body("cut") { after, isWhole in cut(after, isWhole) })
        faults.append(UploadFault.body("cut") { after, isWhole in cut(after, isWhole) }.forEver())
        var stall = UploadFault.body("a stall") { after, isWhole in isWhole ? .holdHead : .stallUpload(after: after) }
        stall.stalls = true
        faults.append(stall)
        faults.append(
            .body("201 before the body's end") { after, isWhole in
                isWhole ? .none : .answerUpload(after: after, 201)
            })
        faults.append(.body("garbage") { after, isWhole in isWhole ? .garbage() : .cutUpload(after: after) })
        faults.append(
            .body("lengths that differ") { after, isWhole in
                isWhole
                    ? .garbage(Array("HTTP/1.1 201 Created\r\nContent-Length: 0\r\nContent-Length: 9\r\n\r\n".utf8))
                    : .cutUpload(after: after)
            })
        faults.append(.body("103 ten times") { _, _ in .interim(count: 10) })
        faults += dialogue
        return faults
    }()

    /// Returns a cut. At the first byte the connection ends before the server asks for the body.
    private static func cut(_ after: Int64, _ isWhole: Bool) -> Fault {
        if isWhole { return .loseAnswer }
        return after == 0 ? .cutUpload(after: 0).and(.noContinue) : .cutUpload(after: after)
    }

    /// Faults of the other requests of an upload.
    private static var dialogue: [UploadFault] {
        var faults: [UploadFault] = []
        for status in [400, 401, 403, 404, 405, 410, 429, 500, 501, 503] {
            faults.append(
                UploadFault(name: "\(status) to the question", what: .question(.status(status)), status: status))
            faults.append(
                UploadFault(name: "\(status) to the creation", what: .creation(.status(status)), status: status))
        }
        faults.append(UploadFault(name: "no answer to the creation", what: .creation(.loseAnswer)))
        faults.append(UploadFault(name: "no answer to the question", what: .question(.closeBeforeHead)))
        let error = Content.text("<Error><Code>InternalError</Code><Message>again</Message></Error>")
        faults.append(UploadFault(name: "200 with an error to the joining", what: .joining(.status(200, body: error))))
        faults.append(UploadFault(name: "no answer to the joining", what: .joining(.loseAnswer)))
        faults.append(UploadFault(name: "503 to the joining", what: .joining(.status(503)), status: 503))
        faults.append(UploadFault(name: "200 and nothing to the joining", what: .joining(.misreport(200))))
        return faults
    }
}
