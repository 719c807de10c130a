import TransferCore

/// An upload to an FTP or SFTP server under the file's own name, by one PUT, for servers that only allow storing a
/// file.
///
/// No file is renamed, so no upload can be continued. After a break the server is asked what has the name
/// (``RemoteCopy``). A file that is proven to be the source is kept. An upload that may have arrived whole, but is
/// missing or cannot be queried, fails. Anything else is overwritten, and that is reported.
///
/// | Answer | Meaning |
/// |---|---|
/// | PUT 2xx | the server has the file, by its own statement |
/// | another | the server's message; after an interrupted attempt the state of the file there is unknown |
struct InPlaceUpload: UploadDialogue {
    private let url: String
    private let source: UploadSource
    /// Whether the server is asked for the length of what it stored.
    private let isChecked: Bool
    private var state: InPlaceState
    private var phase = Phase.ready
    private var lastID = 0

    private enum Phase: Sendable {
        case ready
        /// The server is asked whether an earlier attempt left the whole file.
        case asking(RemoteCopy)
        case sending
        /// The server has accepted the file, and is asked for its length.
        case checking
        /// The hidden files of an attempt with the other method are removed, if the server allows that.
        case sweeping([String], UploadResult)
        case settingTime(UploadResult)
        case ended
    }

    /// Creates an upload.
    ///
    /// - Parameters:
    ///   - url: The destination: `ftp`, `ftps` or `sftp`.
    ///   - state: The state that an earlier attempt saved, with either method.
    ///   - isChecked: Whether the server is asked for the length of what it stored.
    init(url: String, source: UploadSource, state: UploadState?, isChecked: Bool = false) {
        self.url = PartURL.withoutUser(url)
        self.source = source
        self.isChecked = isChecked
        self.state = InPlaceState(state, to: self.url)
    }

    mutating func begin(now: Int64) -> [UploadAction] {
        guard PartURL.url(of: url, mark: "", generation: 0) != nil else {
            return end(.fail(TransferError(.badURL, "\(Redaction.url(url)) names no file")))
        }
        guard state.left != nil else { return send([]) }
        // No time shows that the existing file is ours: its bytes decide.
        var copy = RemoteCopy(url: url, source: source, began: 0)
        let actions = copy.begin(now: now)
        phase = .asking(copy)
        return actions
    }

    mutating func handle(_ event: UploadEvent, now: Int64) -> [UploadAction] {
        if case .asking(var copy) = phase {
            let step = copy.handle(event, now: now)
            phase = .asking(copy)
            switch step {
            case .perform(let actions): return actions
            case .found(let finding): return found(finding, now)
            }
        }
        switch event {
        case .interim, .digested: return []
        case .failed(let request, let error, let sent):
            guard request == lastID else { return [] }
            return failed(error, sent: sent)
        case .answered(let answer):
            guard answer.request == lastID else { return [] }
            return answered(answer, now: now)
        }
    }

    /// Gives the upload up. The file under the name may be whole, and in use already: it stays.
    mutating func abandon(now: Int64) -> [UploadAction] {
        sweep(state.parts, UploadResult(url: url, status: state.parts.isEmpty ? 0 : 204))
    }

    /// Handles the result of the query for an earlier attempt's file.
    private mutating func found(_ finding: RemoteCopy.Finding, _ now: Int64) -> [UploadAction] {
        let left = state.left ?? .part
        let reason: String
        switch finding {
        case .same:
            return [.confirmed(source.size)] + sweep(state.parts, UploadResult(url: url, status: 201))
        case .failed(let error): return end(.fail(error))
        case .unknown(let answer) where StatusRule.error(answer.head, now: now).isTransient:
            return end(.fail(StatusRule.error(answer.head, now: now)))
        case .missing: reason = "the server has nothing of that name"
        case .unknown: reason = "the server does not report what it has"
        case .other: return send(["what has its name is not the file"])
        }
        guard left == .all else { return send([reason]) }
        // Another copy of a file that was collected would be a second delivery.
        return [.forget]
            + end(
                .fail(
                    TransferError(
                        .mayHaveBeenSent,
                        "all of the file had been sent, and \(reason): it may have arrived; "
                            + "\(CommandPhrases.retry) sends it again")))
    }

    private mutating func answered(_ answer: UploadAnswer, now: Int64) -> [UploadAction] {
        switch phase {
        case .sweeping(let rest, let result): return sweep(rest, result)
        case .settingTime(let result): return end(.finish(result))
        case .checking: return checked(answer)
        case .ready, .asking, .sending, .ended: break
        }
        if (200..<300).contains(answer.head.status) {
            guard isChecked else { return stored() }
            phase = .checking
            return ask("HEAD", url)
        }
        var error = StatusRule.error(answer.head, now: now)
        let reply = answer.head.value("Server-Reply").flatMap { $0.isEmpty ? nil : $0 } ?? error.message
        error.message =
            answer.head.status == 409
            ? "the folder is not there (\(reply)); \"createFolders\": true\(CommandPhrases.also("--create-folders")) makes it"
            : "the server does not take the file (\(reply))"
        return failed(error, sent: answer.sent)
    }

    private mutating func failed(_ error: TransferError, sent: Int64) -> [UploadAction] {
        switch phase {
        case .sweeping(_, let result), .settingTime(let result): return end(.finish(result))
        // The file was accepted, and a failed query does not change that.
        case .checking: return stored()
        case .ready, .asking, .sending, .ended: break
        }
        // The server may have the bytes that had left before it refused the rest.
        let isWhole = DeliveryRule.mayHaveArrived(error, sent: sent, of: source.size)
        if isWhole || sent > 0 { state = state.leaving(isWhole || sent >= source.size ? .all : .part) }
        // No byte has left, in this attempt or an earlier one, so no file can exist.
        guard let left = state.left else { return [.save(state.saved)] + end(.fail(error)) }
        var error = error
        error.message += "; \(left.words)"
        if !error.isTransient, error.status != nil {
            error.code = .mayHaveBeenSent
            error.message += ": have it looked at or removed there before \(CommandPhrases.retry) sends the file again"
        }
        return [.save(state.saved)] + end(.fail(error))
    }

    /// Sends the file.
    ///
    /// - Parameter why: The findings about an earlier attempt.
    private mutating func send(_ why: [String]) -> [UploadAction] {
        let again = state.left.map { left in
            [
                UploadAction.restart(
                    "\(([left.words] + why).joined(separator: ", and ")); it is sent in place, as a whole")
            ]
        }
        phase = .sending
        // A killed process could not record later that bytes were under way.
        return (again ?? []) + [.confirmed(0), .save(state.leaving(.part).saved)]
            + ask("PUT", url, body: .source(0..<source.size))
    }

    private mutating func ask(
        _ method: String, _ url: String, _ headers: [HeaderField] = [], body: UploadRequest.Body = .none
    ) -> [UploadAction] {
        lastID += 1
        return [.send(UploadRequest(id: lastID, method: method, url: url, headers: headers, body: body))]
    }

    /// Checks the length of what the server stored.
    private mutating func checked(_ answer: UploadAnswer) -> [UploadAction] {
        guard answer.head.status == 200, let size = answer.head.contentLength, size != source.size else {
            return stored()
        }
        let error = TransferError(
            .badResponse, "the server has \(size) of \(CountText.bytes(source.size)) that it took", isTransient: true)
        return [.save(state.leaving(.part).saved)] + end(.fail(error))
    }

    private mutating func stored() -> [UploadAction] {
        [.confirmed(source.size)] + sweep(state.parts, UploadResult(url: url, status: 201))
    }

    private mutating func sweep(_ parts: [String], _ result: UploadResult) -> [UploadAction] {
        guard let part = parts.first else { return complete(result) }
        phase = .sweeping(Array(parts.dropFirst()), result)
        return ask("DELETE", part)
    }

    /// Completes the upload. The time of a copy's source becomes the file's, if the server allows that.
    private mutating func complete(_ result: UploadResult) -> [UploadAction] {
        guard let modified = source.labels?.modified, result.status == 201 else { return end(.finish(result)) }
        phase = .settingTime(result)
        return ask("PROPPATCH", url, [HeaderField("Last-Modified", HTTPDate.format(modified))])
    }

    private mutating func end(_ action: UploadAction) -> [UploadAction] {
        phase = .ended
        return [action]
    }
}
