import TransferCore

// What the server has after a break, and when the part is not there.
extension FileServerUpload {
    /// Takes the answer to the question what the server has of the file, after a break.
    mutating func looked(_ told: OffsetTold, _ head: ResponseHead, _ error: TransferError) -> [UploadAction] {
        switch told {
        case .known(let size): return found(size, head)
        case .gone: return missing()
        case .unknown: return end(.fail(error))
        case .refused:
            // All was taken: whether it's there, its naming shows.
            if state?.naming != nil { return move() }
            if state?.hasSentAll == true {
                return mayHaveArrived(
                    "all of the file had been sent, and the server doesn't tell what it has (\(words(head)))")
            }
            return replacePart(
                "the server doesn't tell how much it has of the file (\(words(head))); \(Self.inPlaceDoes) it without asking"
            )
        }
    }

    /// There is no part: the server has lost it, or has given it its name.
    mutating func missing() -> [UploadAction] {
        guard let state else { return start(generation: 0, mark: mark) }
        if let naming = state.naming { return ask(.lookingForName(naming, refusal: nil), "HEAD", url) }
        if state.hasSentAll == true {
            return mayHaveArrived("all of the file had been sent, and the server has nothing of it")
        }
        guard state.hasSent == true else { return start(generation: state.generation + 1, mark: state.mark) }
        return startAgain("the server has nothing of the file any more")
    }

    /// The part wasn't given its name, and the server was asked for the part.
    mutating func lookedForPart(_ told: OffsetTold, _ status: Int, _ words: String) -> [UploadAction] {
        if status == 200 {
            return end(.fail(TransferError(.badResponse, Self.unnamed(words), isTransient: false)))
        }
        // libcurl may have asked twice, where a connection went in between.
        let naming = state?.naming ?? .init(etag: nil)
        return ask(.lookingForName(naming, refusal: told == .gone ? nil : words), "HEAD", url)
    }

    /// The upload failed: neither of the two names is the file's, as far as the server tells.
    mutating func unnamed(_ refusal: String?) -> [UploadAction] {
        mayHaveArrived(
            refusal.map { "the server had taken all of the file; \(Self.unnamed($0))" }
                ?? "the server had taken all of the file, and has it neither under its name nor under the hidden one")
    }

    func isOurs(_ head: ResponseHead, _ naming: FileServerState.Naming) -> Bool {
        guard head.contentLength == source.size, naming.isUntold != true else { return false }
        guard let etag = naming.etag, let found = head.value("ETag") else { return true }
        return etag == found
    }
}
