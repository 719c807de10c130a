import Testing
import TransferCore
import TransferUpload

/// A dialogue that a test drives event by event: the test reads the actions, and gives the answers.
struct DialogueScript<Dialogue: UploadDialogue> {
    var dialogue: Dialogue
    /// The actions after the last event.
    private(set) var actions: [UploadAction] = []
    private(set) var saved: [UploadState] = []
    var now: Int64 = 1_800_000_000

    init(_ dialogue: Dialogue) {
        self.dialogue = dialogue
        hear(self.dialogue.begin(now: now))
    }

    init(abandoning dialogue: Dialogue) {
        self.dialogue = dialogue
        hear(self.dialogue.abandon(now: now))
    }

    /// The newest request.
    private(set) var request: UploadRequest?

    mutating func hear(_ actions: [UploadAction]) {
        self.actions = actions
        for action in actions {
            if case .send(let request) = action { self.request = request }
            if case .save(let text) = action { saved.append(text) }
        }
    }

    /// Answers the newest request, or the given one.
    mutating func answer(
        _ status: Int, _ fields: [(String, String)] = [], to other: UploadRequest? = nil, url: String? = nil,
        body: String = "", digest: Checksum? = nil
    ) {
        guard let request = other ?? request else { return }
        let head = ResponseHead(status: status, fields: fields.map { HeaderField($0.0, $0.1) })
        var answer = UploadAnswer(
            request: request.id, head: head, body: Array(body.utf8), url: url ?? request.url, sent: request.body.length)
        answer.digest = digest
        hear(dialogue.handle(.answered(answer), now: now))
    }

    mutating func lose(
        _ code: TransferError.Code = .connectionLost, sent: Int64 = 0, of other: UploadRequest? = nil
    ) {
        guard let request = other ?? request else { return }
        let error = TransferError(code, "lost", isTransient: true)
        hear(dialogue.handle(.failed(request: request.id, error, sent: sent), now: now))
    }

    mutating func digest(_ id: Int, _ checksum: Checksum) {
        hear(dialogue.handle(.digested(id: id, checksum), now: now))
    }

    /// Returns the state with which the next attempt begins.
    func kept() throws -> UploadState { try #require(saved.last) }

    var failure: TransferError? {
        if case .fail(let error) = actions.last { return error }
        return nil
    }

    var result: UploadResult? {
        if case .finish(let result) = actions.last { return result }
        return nil
    }

    var requests: [UploadRequest] {
        actions.compactMap {
            if case .send(let request) = $0 { return request }
            return nil
        }
    }

    var restart: String? {
        for case .restart(let reason) in actions { return reason }
        return nil
    }

    var confirmed: Int64? {
        for case .confirmed(let count) in actions { return count }
        return nil
    }
}
