import TransferCore
import TransferTestServer
import TransferUpload

/// A series of attempts of ``ResumableDialogue`` against ``ResumableService``, each with the last saved state. The
/// network has scripted faults: one for each request in order, then none.
struct ResumableStory {
    enum Fault: Hashable {
        case none
        /// The connection breaks after so many bytes of the body, of which `arriving` reach the server (all, if `nil`).
        case cut(after: Int64, arriving: Int64? = nil)
        /// The process dies after so many bytes, and no answer is received.
        case kill(after: Int64)
        case lostAnswer
        /// Both the 104 and the answer are lost.
        case lostInterimAndAnswer
        /// A gateway answers, and the server receives nothing.
        case status(Int)
        /// The server carries out the request, and a gateway answers in its place.
        case replacedAnswer(Int)
        /// The server loses its uploads before the request arrives.
        case forgotten
        /// The lifetime of the uploads ends before the next attempt's request.
        case expired
        case refusedConnection
    }

    enum Ending: Equatable {
        case finished(UploadResult)
        case failed(TransferError)
        case killed
        /// The attempt takes more actions than any attempt may need.
        case endless
    }

    var service: ResumableService
    let content: [UInt8]
    let options: ResumableOptions
    var faults: [Fault]

    private(set) var state: UploadState?
    private(set) var attempts = 0
    private(set) var restarts: [String] = []
    private(set) var confirmed: [Int64] = []
    /// The number of body bytes that were passed to the network.
    private(set) var sent: Int64 = 0
    /// The number of sent bytes that are useless to the client: not arrived, of an unknown upload, or of an abandoned
    /// one.
    private(set) var lost: Int64 = 0
    private(set) var errors: [TransferError] = []

    init(
        _ service: ResumableService, size: Int, _ options: ResumableOptions, faults: [Fault] = [],
        state: UploadState? = nil
    ) {
        self.service = service
        self.options = options
        self.faults = faults
        self.state = state
        content = Content.random(seed: 7, count: Int64(size)).bytes()
    }

    static func options(
        _ mode: ResumableOptions.Mode, method: String = "PUT", chunkSize: Int64? = nil, wantsDigest: Bool = false
    ) -> ResumableOptions {
        ResumableOptions(
            url: "https://files.example/in/a.bin", method: method, mode: mode, chunkSize: chunkSize,
            wantsDigest: wantsDigest)
    }

    /// Makes attempts until one ends for good.
    mutating func run(maxAttempts: Int = 60) -> Ending {
        var ending = Ending.endless
        while attempts < maxAttempts {
            ending = attempt()
            switch ending {
            case .finished, .endless: return ending
            case .failed(let error):
                errors.append(error)
                if !error.isTransient { return ending }
            case .killed: break
            }
        }
        return ending
    }

    mutating func attempt() -> Ending {
        attempts += 1
        service.now += 10
        var dialogue = ResumableDialogue(
            source: UploadSource(name: "a.bin", size: Int64(content.count)), options: options, state: state)
        var queue = dialogue.begin(now: service.now)
        for _ in 0..<2000 {
            guard !queue.isEmpty else { return .endless }
            switch queue.removeFirst() {
            case .send(let request):
                guard let actions = perform(request, &dialogue) else { return .killed }
                queue += actions
            case .save(let text):
                // The bytes of a forgotten upload were sent in vain.
                if Self.isKnown(state), !Self.isKnown(text) { lost = sent }
                state = text
            case .confirmed(let offset): confirmed.append(offset)
            case .restart(let reason):
                restarts.append(reason)
                lost = sent
            case .finish(let result): return .finished(result)
            case .fail(let error): return .failed(error)
            case .forget: state = nil
            case .stop, .digest, .learned: break
            }
        }
        return .endless
    }

    /// - Returns: The next actions of the dialogue; `nil` if the process is killed.
    private mutating func perform(_ request: UploadRequest, _ dialogue: inout ResumableDialogue) -> [UploadAction]? {
        let fault = faults.isEmpty ? Fault.none : faults.removeFirst()
        let id = service.requests.count + 1
        switch fault {
        case .refusedConnection:
            return dialogue.handle(
                .failed(request: request.id, TransferError(.cannotConnect, "refused", isTransient: true), sent: 0),
                now: service.now)
        case .status(let status): return answer(Response(status: status), request, sent: 0, &dialogue)
        case .forgotten: service.forgetUploads()
        case .expired: service.now += 1_000_000
        default: break
        }

        let body = bytes(of: request.body)
        switch service.begin(id, method: request.method, target: path(request.url), headers: headers(of: request)) {
        case .answer(let response):
            return deliver(response, fault, request, sent: 0, wasWhole: body.isEmpty, &dialogue)
        case .read(let interim):
            var actions: [UploadAction] = []
            if hear(interim, fault, request, &dialogue, &actions) { return stopped(id, actions) }
            var limit = body.count
            var arriving = body.count
            switch fault {
            case .cut(let after, let some):
                limit = min(limit, Int(after))
                arriving = min(limit, Int(some ?? after))
            case .kill(let after):
                limit = min(limit, Int(after))
                arriving = limit
            default: break
            }
            var position = 0
            while position < arriving {
                let end = min(position + 1000, arriving)
                sent += Int64(end - position)
                let progress = service.receive(id, Array(body[position..<end]))
                position = end
                if hear(progress, fault, request, &dialogue, &actions) { return stopped(id, actions) }
            }
            sent += Int64(limit - arriving)
            let wasWhole = arriving == body.count
            let response = service.end(id, isWhole: wasWhole)
            noteLoss(fault, sent: limit, arrived: arriving)
            guard let more = deliver(response, fault, request, sent: Int64(limit), wasWhole: wasWhole, &dialogue)
            else { return nil }
            return actions + more
        }
    }

    private mutating func deliver(
        _ response: Response, _ fault: Fault, _ request: UploadRequest, sent: Int64, wasWhole: Bool,
        _ dialogue: inout ResumableDialogue
    ) -> [UploadAction]? {
        switch fault {
        case .kill: return nil
        case .lostAnswer, .lostInterimAndAnswer, .cut:
            return dialogue.handle(
                .failed(request: request.id, TransferError(.connectionLost, "cut", isTransient: true), sent: sent),
                now: service.now)
        case .replacedAnswer(let status): return answer(Response(status: status), request, sent: sent, &dialogue)
        default: return answer(response, request, sent: sent, &dialogue)
        }
    }

    private func answer(
        _ response: Response, _ request: UploadRequest, sent: Int64, _ dialogue: inout ResumableDialogue
    ) -> [UploadAction] {
        dialogue.handle(
            .answered(
                UploadAnswer(
                    request: request.id, head: head(response),
                    body: request.method == "HEAD" ? [] : response.body.bytes(), url: request.url, sent: sent)),
            now: service.now)
    }

    /// - Returns: Whether the dialogue stops the request.
    private mutating func hear(
        _ interim: [Response], _ fault: Fault, _ request: UploadRequest, _ dialogue: inout ResumableDialogue,
        _ actions: inout [UploadAction]
    ) -> Bool {
        guard fault != .lostInterimAndAnswer else { return false }
        for response in interim {
            for action in dialogue.handle(.interim(request: request.id, head(response)), now: service.now) {
                // A save takes effect at once: the process may be killed in the middle of the body.
                if case .save(let text) = action { state = text } else { actions.append(action) }
            }
        }
        return actions.contains(.stop(request: request.id))
    }

    private mutating func stopped(_ id: Int, _ actions: [UploadAction]) -> [UploadAction] {
        _ = service.end(id, isWhole: false)
        return actions
    }

    private mutating func noteLoss(_ fault: Fault, sent: Int, arrived: Int) {
        let isKnown = Self.isKnown(state)
        switch fault {
        case .cut, .kill: lost += Int64(isKnown ? sent - arrived : sent)
        case .lostAnswer, .lostInterimAndAnswer, .replacedAnswer: lost += Int64(isKnown ? 0 : sent)
        default: break
        }
    }

    private static func isKnown(_ state: UploadState?) -> Bool { state?.contains("\"url\"") == true }

    private func bytes(of body: UploadRequest.Body) -> [UInt8] {
        switch body {
        case .none: []
        case .bytes(let bytes): bytes
        case .source(let range, let prefix, let suffix):
            prefix + content[Int(range.lowerBound)..<Int(range.upperBound)] + suffix
        }
    }

    private func headers(of request: UploadRequest) -> HeaderFields {
        var fields = HeaderFields()
        for field in request.headers { fields.add(field.name, field.value) }
        if request.body != .none { fields["Content-Length"] = String(request.body.length) }
        return fields
    }

    private func head(_ response: Response) -> ResponseHead {
        ResponseHead(
            status: response.status, fields: response.headers.fields.map { HeaderField($0.name, $0.value) })
    }

    private func path(_ url: String) -> String { String(url.dropFirst("https://files.example".count)) }
}
