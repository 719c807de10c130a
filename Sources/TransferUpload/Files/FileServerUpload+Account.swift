import TransferCore

// The way that an account has: found out before a hidden file is made, and when something is refused.
extension FileServerUpload {
    /// Begins an upload of which nothing is on the server.
    mutating func prepare() -> [UploadAction] {
        guard let part = PartURL.url(of: url, mark: mark, generation: 0),
            let other = PartURL.url(of: url, mark: mark, generation: 1)
        else { return start(generation: 0, mark: mark) }
        guard abilities.growsBeside else { return storeUnderName() }
        if abilities.mayRename == nil || abilities.mayDelete == nil {
            return ask(.probing, "OPTIONS", part, [HeaderField("Destination", other)])
        }
        if abilities.mayDelete == false { return ask(.lookingForTaken, "HEAD", url) }
        return start(generation: 0, mark: mark)
    }

    /// Takes the answer to commands for a name that nothing has: only a denial says that one isn't allowed.
    ///
    /// - Parameter head: `nil` where the server answered with something else.
    mutating func probed(_ head: ResponseHead?) -> [UploadAction] {
        let allowed = head?.value("Allow")?.split(separator: ",").map { $0.filter { $0 != " " } }
        abilities.mayRename = allowed?.contains("MOVE") ?? true
        abilities.mayDelete = allowed?.contains("DELETE") ?? true
        return [.learned(abilities)] + prepare()
    }

    /// The file that has the name can't be removed: it's written over, or there is none.
    mutating func lookedForTaken(_ reported: ReportedOffset) -> [UploadAction] {
        reported == .gone ? start(generation: 0, mark: mark) : storeUnderName()
    }

    /// The hidden name was refused before a byte was sent.
    mutating func storeUnrefused(_ error: TransferError) -> [UploadAction] {
        abilities.mayHide = false
        return storeUnderName(after: error)
    }

    /// Sends the file under its own name, by the rules of such uploads.
    ///
    /// - Parameter refusal: That of the hidden name.
    mutating func storeUnderName(after refusal: TransferError? = nil) -> [UploadAction] {
        hiddenRefusal = refusal
        var upload = InPlaceUpload(url: url, source: source, state: nil, isChecked: true)
        let actions = upload.begin(now: 0)
        inPlace = upload
        return actions
    }

    /// Passes an event on to the upload under the file's own name.
    mutating func handleInPlace(
        _ upload: InPlaceUpload, _ event: UploadEvent, _ now: Int64
    ) -> [UploadAction] {
        var upload = upload
        let actions = upload.handle(event, now: now)
        inPlace = upload
        guard let refusal = hiddenRefusal else { return actions }
        return actions.flatMap { action -> [UploadAction] in
            switch action {
            case .finish: return [.learned(abilities), action]
            case .fail(let error) where error.status == 403: return [.fail(refusal)]
            default: return [action]
            }
        }
    }

    /// A part that can't be removed is written over.
    mutating func writeOver(_ reason: String) -> [UploadAction] {
        guard !hasSentBody, detours.take(), let part = state?.part else { return contradiction(reason) }
        state?.naming = nil
        state?.hasSent = nil
        state?.hasSentAll = nil
        return [.restart(reason), .confirmed(0)] + save()
            + ask(.sending(from: 0), "PUT", part, body: .source(0..<source.size))
    }

    /// The server has taken all of the file, or may have, and it's gone: who takes files away at once has it.
    mutating func mayHaveArrived(_ why: String) -> [UploadAction] {
        [.forget]
            + end(
                .fail(
                    TransferError(
                        .mayHaveBeenSent, "\(why): it may have arrived; \(CommandPhrases.retry) sends it again")))
    }

    /// The file is there; the time of a copy's source becomes its own, as far as the server lets it.
    mutating func complete(_ result: UploadResult) -> [UploadAction] {
        guard let modified = source.labels?.modified else { return end(.finish(result)) }
        return ask(
            .settingTime(result), "PROPPATCH", url, [HeaderField("Last-Modified", HTTPDate.format(modified))])
    }

    /// A break leads back to here: the part is whole, and its naming refused.
    mutating func sendUnderName(_ words: String) -> [UploadAction] {
        guard detours.take() else { return contradiction(Self.unnamed(words)) }
        return [
            .restart(
                "the server lets nobody rename files (\(words)): it's sent under its own name, as \(Self.inPlaceDoes) it at once"
            ), .confirmed(0),
        ]
            + ask(.sendingUnderName(words), "PUT", url, body: .source(0..<source.size))
    }

    mutating func verifyUnderName(_ reported: ReportedOffset) -> [UploadAction] {
        if case .known(let size) = reported, size != source.size {
            return contradiction("the server has \(size) of \(CountText.bytes(source.size)) that it took")
        }
        // The file was taken under its own name: who takes files away at once has it.
        if var state {
            state.replaced = (state.replaced ?? []) + [state.part]
            self.state = state
        }
        return [.confirmed(source.size)] + finish(nil)
    }
}
