import TransferCore

// Words for answers: the statuses are made out of the server's words, which say more.
extension FileServerUpload {
    func tooMuch(_ size: Int64) -> String {
        "the server has \(CountText.bytes(size)) of a file with \(source.size)"
    }

    static func unnamed(_ words: String) -> String {
        "the server doesn't give the file its name (\(words)); a folder of that name would be in its way;"
            + " where nobody may rename, \(inPlaceDoes) the file under its own name"
    }

    /// - Parameter refusal: The words by which the server refused to rename the file.
    func unnamed(_ refusal: String, _ error: TransferError) -> TransferError {
        var error = error
        error.message = "\(Self.unnamed(refusal)), and doesn't take it under that name (\(error.message))"
        error.isTransient = false
        return error
    }

    /// The advice for accounts that may do no more than store files.
    static var inPlaceDoes: String { "\"inplace\": true\(CommandPhrases.also("--inplace")) sends" }

    /// The server's own, where it said something.
    func words(_ head: ResponseHead) -> String {
        head.value("Server-Reply").flatMap { $0.isEmpty ? nil : $0 } ?? StatusRule.error(head, now: 0).message
    }

    /// With the server's own words: the statuses are made out of them.
    func refusal(_ head: ResponseHead, now: Int64) -> TransferError {
        var error = StatusRule.error(head, now: now)
        let words = words(head)
        switch (phase, head.status) {
        case (.sending(from: 0), 409):
            error.message =
                "the folder isn't there (\(words)); \"createFolders\": true\(CommandPhrases.also("--create-folders")) makes it"
        case (.sending, _): error.message = "the server doesn't take the file (\(words))"
        case (.sendingUnderName(let refusal), _):
            error.message = "\(Self.unnamed(refusal)), and doesn't take it under that name (\(words))"
        case (.naming, _), (.clearing, _): error.message = Self.unnamed(words)
        case (.discarding, _), (.abandoning, _):
            error.message = "the server doesn't remove what it has of the file (\(words))"
        default: error.message = "the server doesn't tell what it has of the file (\(words))"
        }
        return error
    }
}
