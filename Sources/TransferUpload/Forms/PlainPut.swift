import TransferCore

/// An upload as one request with the whole file, by PUT or by another method.
public struct PlainPut: UploadDialogue {
    private let url: String
    private let method: String
    private let source: UploadSource
    /// The begin in seconds since 1970.
    private var began: Int64 = 0
    private let namesWhatItMade: Bool

    /// Creates an upload.
    ///
    /// - Parameter namesWhatItMade: Whether the result has the URL that the answer reports (RFC 9110 §10.2.2), and not
    ///   the request's.
    public init(url: String, method: String, source: UploadSource, namesWhatItMade: Bool = false) {
        self.namesWhatItMade = namesWhatItMade
        self.url = url
        self.method = method
        self.source = source
    }

    /// Returns the first actions.
    public mutating func begin(now: Int64) -> [UploadAction] {
        began = now
        return [
            .send(
                UploadRequest(
                    id: 1, method: method, url: url, body: .source(0..<source.size), ownersFields: .all))
        ]
    }

    /// Returns the actions that follow an event.
    public mutating func handle(_ event: UploadEvent, now: Int64) -> [UploadAction] {
        switch event {
        case .failed(_, let error, let sent): failed(error, sent: sent)
        case .interim, .digested: []
        case .answered(let answer) where answer.isSuccess:
            [PlainAnswer.end(answer, now: now, namesWhatItMade: namesWhatItMade)]
        case .answered(let answer): failed(StatusRule.error(answer.head, now: now), sent: answer.sent)
        }
    }

    /// Fails. Where the server may have the whole file, the next attempt asks whether it exists (``ConfirmingPut``).
    private func failed(_ error: TransferError, sent: Int64) -> [UploadAction] {
        guard method == "PUT", DeliveryRule.isWorthAsking(error, sent: sent, of: source.size) else {
            return [.fail(error)]
        }
        let words = DeliveryRule.worded(error, sent: sent, of: source.size)
        return [.save(ConfirmingPut.state(began: began)), .fail(words)]
    }

    /// Finishes at once, as the server holds nothing for the upload.
    public mutating func abandon(now: Int64) -> [UploadAction] { [.finish(UploadResult(url: url, status: 0))] }
}
