import TransferCore

/// One request with all of the file, by PUT or by another method.
public struct PlainPut: UploadDialogue {
    private let url: String
    private let method: String
    private let source: UploadSource
    /// In seconds since 1970.
    private var began: Int64 = 0
    private let namesWhatItMade: Bool

    /// - Parameter namesWhatItMade: Whether the result is where the answer says that the file is (RFC 9110 §10.2.2), and
    ///   not where it was sent to.
    public init(url: String, method: String, source: UploadSource, namesWhatItMade: Bool = false) {
        self.namesWhatItMade = namesWhatItMade
        self.url = url
        self.method = method
        self.source = source
    }

    public mutating func begin(now: Int64) -> [UploadAction] {
        began = now
        return [
            .send(
                UploadRequest(
                    id: 1, method: method, url: url, body: .source(0..<source.size), ownersFields: .all))
        ]
    }

    public mutating func handle(_ event: UploadEvent, now: Int64) -> [UploadAction] {
        switch event {
        case .failed(_, let error, let sent): failed(error, sent: sent)
        case .interim, .digested: []
        case .answered(let answer) where answer.isSuccess:
            [PlainAnswer.end(answer, now: now, namesWhatItMade: namesWhatItMade)]
        case .answered(let answer): failed(StatusRule.error(answer.head, now: now), sent: answer.sent)
        }
    }

    /// Where the server may have all of the file, the next attempt asks whether it's there (``ConfirmingPut``).
    private func failed(_ error: TransferError, sent: Int64) -> [UploadAction] {
        guard method == "PUT", DeliveryRule.mayHaveArrived(error, sent: sent, of: source.size) else {
            return [.fail(error)]
        }
        return [.save(ConfirmingPut.state(began: began)), .fail(error)]
    }

    /// There is nothing that a server would hold.
    public mutating func abandon(now: Int64) -> [UploadAction] { [.finish(UploadResult(url: url, status: 0))] }
}
