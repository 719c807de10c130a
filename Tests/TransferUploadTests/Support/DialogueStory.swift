import TransferCore
import TransferCrypto
import TransferTestServer
import TransferUpload

/// An upload from its first attempt to its end, with scripted faults of network and server. A dialogue and a service
/// communicate without a network. After each transient failure, or death of its process, the next attempt begins with
/// the last saved state.
struct DialogueStory<Service: UploadService> {
    var service: Service
    let content: [UInt8]
    /// The URL of the upload, as the dialogue has it.
    var url = "http://server.test/files"
    var fileName = "film.mp4"
    /// The number of bytes that arrive of one body before the next body has its turn.
    var blockSize = 4
    /// The faults by the number of the request in the whole story, counted from 1.
    var faults: [Int: StoryFault<Service>] = [:]
    var attemptLimit = 60
    /// The state that an earlier story left, from which this one begins.
    var state: UploadState?
    var now: Int64 = 1_800_000_000
    let dialogue: (UploadSource, UploadState?) -> any UploadDialogue

    private(set) var outcome = StoryOutcome()
    private var open: [OpenRequest] = []
    private var isKilled = false

    init(
        _ service: Service, _ content: [UInt8], faults: [Int: StoryFault<Service>] = [:],
        dialogue: @escaping (UploadSource, UploadState?) -> any UploadDialogue
    ) {
        self.service = service
        self.content = content
        self.faults = faults
        self.dialogue = dialogue
    }

    /// Runs until the upload is finished or has failed for good.
    mutating func run() throws -> StoryOutcome {
        outcome = StoryOutcome()
        let source = UploadSource(name: fileName, size: Int64(content.count))
        while outcome.result == nil, outcome.attempts < attemptLimit {
            outcome.attempts += 1
            var dialogue = self.dialogue(source, state)
            let first = dialogue.begin(now: now)
            let error = try attempt(&dialogue, first)
            closeAll()
            outcome.lastError = error
            if let error, !error.isTransient {
                outcome.error = error
                return outcome
            }
        }
        return outcome
    }

    /// Abandons the upload.
    mutating func abandon() throws -> StoryOutcome {
        outcome = StoryOutcome()
        outcome.attempts = 1
        var dialogue = self.dialogue(UploadSource(name: fileName, size: Int64(content.count)), state)
        let first = dialogue.abandon(now: now)
        outcome.error = try attempt(&dialogue, first)
        closeAll()
        return outcome
    }

    /// - Returns: The error of the dialogue; `nil` if it finished, or if its process died.
    private mutating func attempt(
        _ dialogue: inout any UploadDialogue, _ first: [UploadAction]
    ) throws -> TransferError? {
        isKilled = false
        var actions = first
        for _ in 0..<100_000 {
            while !actions.isEmpty {
                switch actions.removeFirst() {
                case .send(let request): send(request)
                case .digest(let id, let algorithm, let range):
                    let checksum = try digest(algorithm, content[Int(range.lowerBound)..<Int(range.upperBound)])
                    actions += dialogue.handle(.digested(id: id, checksum), now: now)
                case .save(let text): state = text
                case .confirmed(let count): outcome.confirmed.append(count)
                case .restart(let reason): outcome.restarts.append(reason)
                case .forget: state = nil
                case .learned(let abilities): outcome.abilities = abilities
                case .stop(let id):
                    for request in open where request.request.id == id { close(request) }
                    open.removeAll { $0.request.id == id }
                case .finish(let result):
                    guard actions.isEmpty else { throw StoryError("more after the end: \(actions)") }
                    outcome.result = result
                    return nil
                case .fail(let error):
                    guard actions.isEmpty else { throw StoryError("more after the end: \(actions)") }
                    return error
                }
            }
            guard !open.isEmpty else { throw StoryError("the dialogue waits for nothing") }
            let request = open.removeFirst()
            for event in turn(request) { actions += dialogue.handle(event, now: now) }
            if isKilled { return nil }
        }
        throw StoryError("the dialogue does not end")
    }

    private mutating func send(_ request: UploadRequest) {
        outcome.requests += 1
        outcome.log.append("\(request.method) \(request.url)")
        open.append(
            OpenRequest(
                request: request, number: outcome.requests, body: bytes(request.body), fault: faults[outcome.requests]))
    }

    /// Advances a request by one step, and returns its events.
    private mutating func turn(_ turn: OpenRequest) -> [UploadEvent] {
        var request = turn
        var events: [UploadEvent] = []
        if !request.hasArrived {
            switch request.fault {
            case .neverArrives:
                return [failed(request, .cannotConnect)]
            case .killedBefore:
                isKilled = true
                return []
            case .status(let status):
                return [answered(request, Response(status: status))]
            case .happens(let event): outcome.lost += event(&service)
            case .cut, .kill, .lostAnswer, .gateway, nil: break
            }
            request.hasArrived = true
            switch service.begin(
                request.number, method: request.request.method, target: target(request), headers: headers(request))
            {
            case .answer(let answer):
                request.delivered = 0
                return end(request, answer)
            case .read(let interim): events = interim.map { .interim(request: request.request.id, head($0)) }
            }
        }
        let end = min(request.limit, request.body.count)
        let block = Array(request.body[request.delivered..<min(end, request.delivered + blockSize)])
        if !block.isEmpty {
            request.delivered += block.count
            outcome.sent += Int64(block.count)
            events += service.receive(request.number, block).map { .interim(request: request.request.id, head($0)) }
        }
        guard request.delivered == end else {
            open.append(request)
            return events
        }
        let answer = service.end(request.number, isWhole: end == request.body.count)
        return events + self.end(request, answer)
    }

    /// Ends a request: the server has answered, or stopped waiting. The fault decides whether the client receives the
    /// answer.
    private mutating func end(_ request: OpenRequest, _ answer: Response) -> [UploadEvent] {
        switch request.fault {
        case .cut, .lostAnswer:
            outcome.lost += Int64(request.delivered)
            return [failed(request, .connectionLost)]
        case .kill:
            outcome.lost += Int64(request.delivered)
            isKilled = true
            return []
        case .gateway(let status):
            outcome.lost += Int64(request.delivered)
            return [answered(request, Response(status: status))]
        case .happens, .status, .neverArrives, .killedBefore, nil: return [answered(request, answer)]
        }
    }

    private mutating func closeAll() {
        for request in open { close(request) }
        open = []
    }

    private mutating func close(_ request: OpenRequest) {
        guard request.hasArrived else { return }
        outcome.lost += Int64(request.delivered)
        _ = service.end(request.number, isWhole: false)
    }

    private func failed(_ request: OpenRequest, _ code: TransferError.Code) -> UploadEvent {
        .failed(
            request: request.request.id, TransferError(code, "the story says so", isTransient: true),
            sent: Int64(request.delivered))
    }

    private func answered(_ request: OpenRequest, _ answer: Response) -> UploadEvent {
        let body = answer.body.bytes()
        var reported = UploadAnswer(
            request: request.request.id, head: head(answer), body: body, url: request.request.url,
            sent: Int64(request.delivered))
        reported.digest = request.request.digests.flatMap { try? digest($0, body[...]) }
        return .answered(reported)
    }

    private func head(_ response: Response) -> ResponseHead {
        ResponseHead(status: response.status, fields: response.headers.fields.map { HeaderField($0.name, $0.value) })
    }

    private func target(_ request: OpenRequest) -> String {
        let rest = request.request.url.dropFirst("http://".count)
        return rest.firstIndex(of: "/").map { String(rest[$0...]) } ?? "/"
    }

    private func headers(_ request: OpenRequest) -> HeaderFields {
        var fields = HeaderFields()
        fields.add("Host", "server.test")
        for field in request.request.headers { fields.add(field.name, field.value) }
        if request.request.body != .none { fields.add("Content-Length", "\(request.body.count)") }
        return fields
    }

    private func bytes(_ body: UploadRequest.Body) -> [UInt8] {
        switch body {
        case .none: []
        case .bytes(let bytes): bytes
        case .source(let range, let prefix, let suffix):
            prefix + content[Int(range.lowerBound)..<Int(range.upperBound)] + suffix
        }
    }

    private func digest(_ algorithm: DigestAlgorithm, _ bytes: ArraySlice<UInt8>) throws -> Checksum {
        let digest = try Digest(algorithm)
        bytes.withUnsafeBytes { digest.update($0) }
        return try digest.finish()
    }

    private struct OpenRequest {
        let request: UploadRequest
        let number: Int
        let body: [UInt8]
        let fault: StoryFault<Service>?
        var hasArrived = false
        var delivered = 0

        /// The number of bytes after which the connection ends.
        var limit: Int {
            switch fault {
            case .cut(let count), .kill(let count): count
            default: .max
            }
        }
    }
}

/// The fault of one request.
enum StoryFault<Service> {
    /// The connection ends after so many bytes of the body, or after the whole of a shorter body.
    case cut(after: Int)
    /// The process dies at that byte.
    case kill(after: Int)
    /// The server has carried out the request, and its answer is lost.
    case lostAnswer
    /// The server has carried out the request, and a gateway answers in its place.
    case gateway(Int)
    /// A gateway answers, and the server receives nothing.
    case status(Int)
    case neverArrives
    /// The process dies before any byte is sent.
    case killedBefore
    /// An event at the server just before the request arrives.
    ///
    /// - Returns: The number of bytes that the server has lost by the event.
    case happens((inout Service) -> Int64)
}

struct StoryOutcome {
    var result: UploadResult?
    var error: TransferError?
    /// The error of the last attempt, which another attempt may have followed.
    var lastError: TransferError?
    var abilities: AccountAbilities?
    var attempts = 0
    var requests = 0
    /// The number of body bytes that arrived at the server.
    var sent: Int64 = 0
    /// The number of body bytes that failed with their request, or that the server has lost. So many more bytes may be
    /// sent.
    var lost: Int64 = 0
    var restarts: [String] = []
    var confirmed: [Int64] = []
    var log: [String] = []
}

struct StoryError: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}
