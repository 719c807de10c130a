import TransferCore
import TransferUpload

/// One attempt of a ``ResumableDialogue``, whose answers the test gives.
struct ResumableScript {
    private(set) var dialogue: ResumableDialogue
    /// The actions after the last event.
    private(set) var actions: [UploadAction] = []
    /// The request under way, or the last one.
    private(set) var request: UploadRequest?
    private(set) var state: UploadState?
    var now: Int64 = 1000
    static let target = "https://files.example/in/a.bin"
    static let upload = "https://files.example/uploads/u1"

    init(
        _ mode: ResumableOptions.Mode = .careful, method: String = "PUT", size: Int64 = 100, chunkSize: Int64? = nil,
        digest: Checksum? = nil, wantsDigest: Bool = false, headers: [HeaderField] = [], state: UploadState? = nil,
        now: Int64 = 1000
    ) {
        self.state = state
        self.now = now
        dialogue = ResumableDialogue(
            source: UploadSource(name: "a.bin", size: size, digest: digest),
            options: ResumableOptions(
                url: Self.target, method: method, mode: mode, chunkSize: chunkSize, headers: headers,
                wantsDigest: wantsDigest), state: state)
        take(dialogue.begin(now: now))
    }

    init(_ dialogue: ResumableDialogue, now: Int64 = 1000) {
        self.dialogue = dialogue
        self.now = now
        take(self.dialogue.begin(now: now))
    }

    init(abandoning dialogue: ResumableDialogue) {
        self.dialogue = dialogue
        take(self.dialogue.abandon(now: now))
    }

    /// Returns an attempt that has asked about an upload of 100 bytes at ``upload``. `offset` is the server's number of
    /// bytes.
    static func resumed(
        _ method: String = "PUT", at offset: Int64 = 40, version: Int = 8, chunkSize: Int64? = nil,
        fields: [String: String] = [:], isEnding: Bool = false
    ) -> ResumableScript {
        var script = ResumableScript(
            method: method, chunkSize: chunkSize, state: saved(version: version, isEnding: isEnding))
        script.answer(204, ["Upload-Offset": "\(offset)", "Upload-Complete": "?0"].merging(fields) { $1 })
        return script
    }

    static func saved(version: Int = 8, expires: Int64? = nil, length: Int64 = 100, isEnding: Bool = false)
        -> UploadState
    {
        UploadState(
            earlier: "{" + (expires.map { "\"expires\":\($0)," } ?? "") + (isEnding ? "\"isEnding\":true," : "")
                + "\"isVersionHeard\":true,\"length\":\(length),\"url\":\"\(upload)\",\"version\":\(version)}")
    }

    mutating func answer(
        _ status: Int, _ fields: [String: String] = [:], body: String = "", sent: Int64? = nil, url: String? = nil
    ) {
        // After the end no request follows.
        guard let request, failure == nil, result == nil else { return }
        take(
            dialogue.handle(
                .answered(
                    UploadAnswer(
                        request: request.id, head: Self.head(status, fields), body: Array(body.utf8),
                        url: url ?? request.url, sent: sent ?? request.body.length)),
                now: now))
    }

    mutating func interim(_ fields: [String: String], version: Int? = 8, url: String? = nil) {
        guard let request else { return }
        var fields = fields
        if let version { fields["Upload-Draft-Interop-Version"] = String(version) }
        take(dialogue.handle(.interim(request: request.id, Self.head(104, fields), url: url), now: now))
    }

    mutating func lose(sent: Int64, code: TransferError.Code = .connectionLost, isTransient: Bool = true) {
        guard let request else { return }
        take(
            dialogue.handle(
                .failed(request: request.id, TransferError(code, "lost", isTransient: isTransient), sent: sent),
                now: now))
    }

    mutating func abandon() { take(dialogue.abandon(now: now)) }

    private mutating func take(_ next: [UploadAction]) {
        actions = next
        for action in next {
            switch action {
            case .send(let sent): request = sent
            case .save(let text): state = text
            default: break
            }
        }
    }

    private static func head(_ status: Int, _ fields: [String: String]) -> ResponseHead {
        ResponseHead(status: status, fields: fields.sorted { $0.key < $1.key }.map { HeaderField($0.key, $0.value) })
    }

    /// `PUT https://…` for the request of the last actions.
    var sent: String? {
        for case .send(let request) in actions { return "\(request.method) \(request.url)" }
        return nil
    }

    var sentBody: UploadRequest.Body? {
        for case .send(let request) in actions { return request.body }
        return nil
    }

    func sentField(_ name: String) -> String? { request?.headers.value(name) }

    var failure: TransferError? {
        guard case .fail(let error) = actions.last else { return nil }
        return error
    }

    var result: UploadResult? {
        guard case .finish(let result) = actions.last else { return nil }
        return result
    }

    var restart: String? {
        for case .restart(let reason) in actions { return reason }
        return nil
    }

    static let head = "HEAD \(upload)"
    static let patch = "PATCH \(upload)"
    static let delete = "DELETE \(upload)"
    static let put = "PUT \(target)"
    static let post = "POST \(target)"
}
