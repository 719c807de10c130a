import TransferCore

// The messages for answers: the statuses are derived from the server's messages, which say more.
extension FileServerUpload {
    func tooMuch(_ size: Int64) -> String {
        "the server has \(CountText.bytes(size)) of a file with \(source.size)"
    }

    static func unnamed(_ words: String) -> String {
        "the server does not give the file its name (\(words)); a folder of that name would be in its way;"
            + " where renaming is not permitted, \(inPlaceDoes) the file under its own name"
    }

    /// Returns the error of a file that could neither be renamed nor stored under its name.
    ///
    /// - Parameter refusal: The message by which the server refused to rename the file.
    func unnamed(_ refusal: String, _ error: TransferError) -> TransferError {
        var error = error
        error.message = "\(Self.unnamed(refusal)), and does not take it under that name (\(error.message))"
        error.isTransient = false
        return error
    }

    /// The advice for accounts that may only store files.
    static var inPlaceDoes: String { "\"inplace\": true\(CommandPhrases.also("--inplace")) sends" }

    /// Returns the server's own message, or a description of the status where it has none.
    func words(_ head: ResponseHead) -> String {
        head.value("Server-Reply").flatMap { $0.isEmpty ? nil : $0 } ?? StatusRule.error(head, now: 0).message
    }

    /// Returns the error of a refusal with the server's own message, from which the status was derived.
    func refusal(_ head: ResponseHead, now: Int64) -> TransferError {
        var error = StatusRule.error(head, now: now)
        let words = words(head)
        switch (phase, head.status) {
        case (.sending(from: 0), 409):
            error.message =
                "the folder is not there (\(words)); \"createFolders\": true\(CommandPhrases.also("--create-folders")) makes it"
        case (.sending, _): error.message = "the server does not take the file (\(words))"
        case (.sendingUnderName(let refusal), _):
            error.message = "\(Self.unnamed(refusal)), and does not take it under that name (\(words))"
        case (.naming, _), (.clearing, _): error.message = Self.unnamed(words)
        case (.discarding, _), (.abandoning, _):
            error.message = "the server does not remove what it has of the file (\(words))"
        default: error.message = "the server does not report what it has of the file (\(words))"
        }
        return error
    }
}
