/// A connection on a thread of its own, until either side ends it.
final class Connection {
    private let number: Int
    private let socket: Socket
    private let peer: String
    private let server: TestServer
    private let input: ConnectionInput
    private let output: ConnectionOutput

    init(number: Int, socket: Socket, peer: String, server: TestServer) {
        self.number = number
        self.socket = socket
        self.peer = peer
        self.server = server
        input = ConnectionInput(socket)
        output = ConnectionOutput(socket)
    }

    func run() {
        do {
            while case let head = try input.readHead(), try answer(head) {}
        } catch {
            // The client disconnected or the server stops, so nothing remains to be done.
        }
    }

    /// Answers a request.
    ///
    /// - Returns: Whether the connection stays open.
    private func answer(_ head: RequestHead) throws -> Bool {
        let (request, resource, fault) = server.update { $0.begin(head, connection: number, peer: peer) }
        defer { server.update { $0.finish(request) } }

        for case .answerEarly(let response) in fault.uploadSteps {
            var plan = ResponsePlan(response)
            plan.closes = true
            _ = try write(plan, fault, to: head, request)
            socket.lingeringClose()
            return false
        }
        if case .uploads(let uploads) = resource {
            guard let plan = try converse(head, request, uploads, fault) else { return false }
            let stays = try write(plan, fault, to: head, request)
            if plan.closes { socket.lingeringClose() }
            return stays && head.keepsAlive
        }
        let body: [UInt8]
        do {
            guard let read = try readBody(head, request, resource, fault) else { return false }
            body = read
        } catch let early as UploadAnswer {
            _ = try write(early.plan, fault, to: head, request)
            socket.lingeringClose()
            return false
        }

        var asked = head
        fault.apply(to: &asked)
        let plan =
            fault.answer(total: resource.total)
            ?? resource.answer(
                to: Request(head: asked, body: body, connection: number))
        return try write(fault.misreported(plan), fault, to: head, request) && head.keepsAlive
    }

    private func write(_ plan: ResponsePlan, _ fault: Fault, to head: RequestHead, _ request: Int) throws -> Bool {
        var plan = plan
        fault.apply(to: &plan)
        if !head.keepsAlive { plan.closes = true }
        if case .nothing = plan.opening {} else { server.update { $0.requests[request - 1].status = plan.status } }
        let writer = ResponseWriter(
            plan: plan, method: head.method, socket: socket, output: output,
            hold: { [self] in try server.hold(head, connection: number, socket: socket) },
            sent: { [self] count in server.update { $0.requests[request - 1].bytesSent += count } })
        return try writer.write()
    }

    /// Conducts an upload.
    ///
    /// - Returns: `nil` where a fault ends the connection.
    private func converse(
        _ head: RequestHead, _ request: Int, _ uploads: any ServedUploadService, _ fault: Fault
    ) throws -> ResponsePlan? {
        let (id, step) = uploads.begin(head)
        let interim: [Response]
        switch step {
        case .answer(let answer):
            var plan = fault.answer(total: nil) ?? fault.misreported(ResponsePlan(answer))
            // The body may be in transit, so the connection cannot be used again.
            plan.closes = BodyLength(head) != .none
            return plan
        case .read(let first): interim = first
        }
        let script = UploadScript(fault)
        do {
            if script.stallsAt == 0 { try server.hold(head, connection: number, socket: socket) }
            if script.sendsContinue, head.headers.listContains("Expect", token: "100-continue") {
                try tell([Response(status: 100)])
            }
            try tell(interim)
            if script.cutsAt == 0 { throw UploadCut() }
            try input.readBody(BodyLength(head), stops: script.stops) { piece, total in
                let news = uploads.receive(id, piece)
                server.update { $0.requests[request - 1].bodyLength = total }
                try tell(news)
                try script.act(at: total) { try server.hold(head, connection: number, socket: socket) }
                try script.slowDown(after: piece.count, socket)
            }
        } catch let early as UploadAnswer {
            _ = uploads.end(id, isWhole: false)
            return early.plan
        } catch {
            _ = uploads.end(id, isWhole: false)
            guard error is UploadCut else { throw error }
            socket.resetOnClose()
            return nil
        }
        // A scripted refusal has read the body without using it.
        if let refusal = fault.answer(total: nil) {
            _ = uploads.end(id, isWhole: false)
            return refusal
        }
        let answer = uploads.end(id, isWhole: true)
        return script.losesAnswer ? nil : fault.misreported(ResponsePlan(answer))
    }

    private func tell(_ interim: [Response]) throws {
        guard !interim.isEmpty else { return }
        for response in interim { try output.write(ResponsePlan.text(response.status, response.headers)) }
        try output.flush()
    }

    /// Reads a body.
    ///
    /// - Returns: The body if its resource needs it in memory, and an empty array otherwise; `nil` where a fault ends
    ///   the connection.
    private func readBody(
        _ head: RequestHead, _ request: Int, _ resource: Resource, _ fault: Fault
    ) throws -> [UInt8]? {
        let length = BodyLength(head)
        var receiver = UploadReceiver(head: head, resource: resource)
        let script = UploadScript(fault)
        if length != .none, script.sendsContinue, head.headers.listContains("Expect", token: "100-continue") {
            try output.write(ResponsePlan.text(100, [:]))
            try output.flush()
        }
        do {
            if script.cutsAt == 0 { throw UploadCut() }
            if script.stallsAt == 0 { try server.hold(head, connection: number, socket: socket) }
            try input.readBody(length, stops: script.stops) { piece, total in
                receiver.receive(piece)
                server.update { $0.requests[request - 1].bodyLength = total }
                try script.act(at: total) { try server.hold(head, connection: number, socket: socket) }
                try script.slowDown(after: piece.count, socket)
            }
        } catch {
            receiver.finish(isComplete: false)
            guard error is UploadCut else { throw error }
            socket.resetOnClose()
            return nil
        }
        if length != .none || head.method != "GET" { receiver.finish(isComplete: true) }
        return script.losesAnswer ? nil : receiver.bytes
    }
}

private struct UploadCut: Error {}

/// The response before the end of the body.
private struct UploadAnswer: Error {
    var plan: ResponsePlan

    init(_ response: Response) {
        plan = ResponsePlan(response)
        plan.closes = true
    }
}

/// The upload steps of a fault, combined.
private struct UploadScript {
    var sendsContinue = true
    var losesAnswer = false
    var cutsAt: Int64?
    var stallsAt: Int64?
    var pace: (bytes: Int, interval: Duration)?
    var answersAt: (offset: Int64, answer: Response)?

    init(_ fault: Fault) {
        for step in fault.uploadSteps {
            switch step {
            case .cut(let bytes): cutsAt = bytes
            case .stall(let bytes): stallsAt = bytes
            case .pace(let bytes, let interval): pace = (max(1, bytes), interval)
            case .loseAnswer: losesAnswer = true
            case .noContinue: sendsContinue = false
            case .answer(let bytes, let response): answersAt = (bytes, response)
            case .answerEarly, .misreport: break
            }
        }
    }

    var stops: [Int64] { [cutsAt, stallsAt, answersAt?.offset].compactMap { $0 } }

    /// Delays the reading. The interval is part of the requested fault; the wait on the socket also ends when the
    /// client disconnects or the server stops.
    func slowDown(after count: Int, _ socket: Socket) throws {
        guard let pace else { return }
        let pause = pace.interval * count / pace.bytes
        if case .left = socket.waitForDeparture(timeout: pause) { throw ConnectionEnded() }
    }

    /// Applies the fault for this number of read bytes.
    func act(at total: Int64, stall: () throws -> Void) throws {
        if total == stallsAt { try stall() }
        if total == cutsAt { throw UploadCut() }
        if let answersAt, total == answersAt.offset { throw UploadAnswer(answersAt.answer) }
    }
}

/// The receiver of a body for its resource: completely for a handler, as configured for a sink, and not at all for a
/// file.
private struct UploadReceiver {
    let head: RequestHead
    let resource: Resource
    private(set) var bytes: [UInt8] = []
    private var digest = UploadDigest()
    private var count: Int64 = 0

    init(head: RequestHead, resource: Resource) {
        self.head = head
        self.resource = resource
    }

    mutating func receive(_ piece: UnsafeRawBufferPointer) {
        count += Int64(piece.count)
        switch resource {
        case .handler: bytes += piece
        case .sink(let sink):
            digest.update(piece)
            if sink.keepsBytes { bytes += piece }
        case .file, .uploads, .missing: break
        }
    }

    func finish(isComplete: Bool) {
        guard case .sink(let sink) = resource else { return }
        sink.store(
            ReceivedUpload(
                path: head.path, method: head.method, headers: head.headers, count: count, digest: digest.value,
                bytes: bytes, isComplete: isComplete))
    }
}

extension Resource {
    fileprivate var total: Int64? {
        if case .file(_, let file) = self { file.content.count } else { nil }
    }

    fileprivate func answer(to request: Request) -> ResponsePlan {
        switch self {
        case .file(_, let file): file.answer(to: request.head)
        case .handler(let handle): handle(request)
        case .sink(let sink): ResponsePlan(sink.answer)
        case .uploads: ResponsePlan(Response(status: 500))
        case .missing(let status): ResponsePlan(Response(status: status))
        }
    }
}
