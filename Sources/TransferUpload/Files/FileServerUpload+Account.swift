import TransferCore

// The choice of a method by the account's rights, before a hidden file is made and when a command is refused.
extension FileServerUpload {
    /// Begins an upload that has nothing on the server.
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

    /// Handles the answer to commands for an unused name: only a denial means that one is not allowed.
    ///
    /// - Parameter head: The answer; `nil` where the server answered in another way.
    mutating func probed(_ head: ResponseHead?) -> [UploadAction] {
        let allowed = head?.value("Allow")?.split(separator: ",").map { $0.filter { $0 != " " } }
        abilities.mayRename = allowed?.contains("MOVE") ?? true
        abilities.mayDelete = allowed?.contains("DELETE") ?? true
        return [.learned(abilities)] + prepare()
    }

    /// Continues after the check whether the name is taken. An existing file that cannot be removed is overwritten.
    mutating func lookedForTaken(_ reported: ReportedOffset) -> [UploadAction] {
        reported == .gone ? start(generation: 0, mark: mark) : storeUnderName()
    }

    /// Handles a refusal of the hidden name before a byte was sent.
    mutating func storeUnrefused(_ error: TransferError) -> [UploadAction] {
        abilities.mayHide = false
        return storeUnderName(after: error)
    }

    /// Sends the file under its own name, by the rules of such uploads.
    ///
    /// - Parameter refusal: The refusal of the hidden name.
    mutating func storeUnderName(after refusal: TransferError? = nil) -> [UploadAction] {
        hiddenRefusal = refusal
        var upload = InPlaceUpload(url: url, source: source, state: nil, isChecked: true)
        let actions = upload.begin(now: 0)
        inPlace = upload
        return actions
    }

    /// Passes an event to the upload under the file's own name.
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

    /// Overwrites a part that cannot be removed.
    mutating func writeOver(_ reason: String) -> [UploadAction] {
        guard !hasSentBody, detours.take(), let part = state?.part else { return contradiction(reason) }
        state?.naming = nil
        state?.hasSent = nil
        state?.hasSentAll = nil
        return [.restart(reason), .confirmed(0)] + save()
            + ask(.sending(from: 0), "PUT", part, body: .source(0..<source.size))
    }

    /// Fails an upload whose bytes may all have been taken and that is gone: a process on the server may have collected
    /// it.
    mutating func mayHaveArrived(_ why: String) -> [UploadAction] {
        [.forget]
            + end(
                .fail(
                    TransferError(
                        .mayHaveBeenSent, "\(why): it may have arrived; \(CommandPhrases.retry) sends it again")))
    }

    /// Completes the upload. The time of a copy's source becomes the file's, if the server allows that.
    mutating func complete(_ result: UploadResult) -> [UploadAction] {
        guard let modified = source.labels?.modified else { return end(.finish(result)) }
        return ask(
            .settingTime(result), "PROPPATCH", url, [HeaderField("Last-Modified", HTTPDate.format(modified))])
    }

    /// Sends the file under its own name, because the renaming of the complete part was refused. A break leads back to
    /// here.
    mutating func sendUnderName(_ words: String) -> [UploadAction] {
        guard detours.take() else { return contradiction(Self.unnamed(words)) }
        return [
            .restart(
                "the server does not permit renaming files (\(words)): it is sent under its own name, as \(Self.inPlaceDoes) it at once"
            ), .confirmed(0),
        ]
            + ask(.sendingUnderName(words), "PUT", url, body: .source(0..<source.size))
    }

    mutating func verifyUnderName(_ reported: ReportedOffset) -> [UploadAction] {
        if case .known(let size) = reported, size != source.size {
            return contradiction("the server has \(size) of \(CountText.bytes(source.size)) that it took")
        }
        // The file was taken under its own name: a process on the server may have collected it already.
        if var state {
            state.replaced = (state.replaced ?? []) + [state.part]
            self.state = state
        }
        return [.confirmed(source.size)] + finish(nil)
    }
}
