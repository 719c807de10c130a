import TransferCore

// The failures in the middle of a dialogue, where an answer with a status is no longer possible.
extension FileServerDialogue {
    static func changed(_ url: FileServerURL) -> TransferError {
        TransferError(
            .changedDuringTransfer, "\(Redaction.url(url.text)) changed while it was being fetched", isTransient: true)
    }

    /// Returns the error of a failure within a body, where no other answer is possible.
    static func lost(_ failure: FileServerFailure) -> TransferError {
        let words =
            switch failure {
            case .missing(let words), .denied(let words), .ambiguous(let words), .exists(let words), .full(let words):
                words
            case .beyondEnd: "the file ends before the byte that was asked for"
            case .noRestart: "the server cannot begin in the middle of a file"
            case .error(let error): error.message
            }
        return TransferError(.connectionLost, "connection lost: \(words)", isTransient: true)
    }

    /// Returns the time of a PROPPATCH.
    ///
    /// - Throws: `invalidRequest` where a PROPPATCH names no time of the file's last modification.
    static func time(_ headers: [HeaderField]) throws(TransferError) -> Int64 {
        guard let time = headers.value("Last-Modified").flatMap({ HTTPDate.parse($0) }) else {
            throw TransferError(.invalidRequest, "a PROPPATCH of a file server needs a Last-Modified")
        }
        return time
    }
}
