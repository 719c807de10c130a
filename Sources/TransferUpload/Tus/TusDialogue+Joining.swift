import TransferCore

/// The joining of the parts (concatenation), and the interpretation of a creation's answer.
///
/// The parts are not deleted afterwards: a server may do so, and a server that does not may need them.
extension TusDialogue {
    mutating func join() -> [UploadAction] {
        let parts = pieces.compactMap(\.url).joined(separator: " ")
        let request = request(
            "POST", url,
            [
                HeaderField("Upload-Concat", "final;\(parts)"),
                HeaderField("Upload-Metadata", TusFields.metadata(options.metadata, of: source)),
            ])
        phase = .joining(request: request.id)
        mayBeFinished = true
        return [save(), .send(request)]
    }

    mutating func joinAnswered(_ answer: UploadAnswer, now: Int64) throws(TransferError) -> [UploadAction] {
        switch answer.head.status {
        case 200..<300: break
        case 404, 410: throw TusFailure.passing("the server no longer has all parts of the upload")
        case 413: return try refusedSize(answer)
        default: throw refusal(answer.head, now: now)
        }
        let place = try location(answer)
        joined = place
        mayBeFinished = false
        return [save()] + confirm(place)
    }

    mutating func confirm(_ place: String) -> [UploadAction] {
        let request = request("HEAD", place)
        phase = .confirming(request: request.id)
        return [.send(request)]
    }

    mutating func confirmAnswered(_ answer: UploadAnswer, now: Int64) throws(TransferError) -> [UploadAction] {
        let status = answer.head.status
        guard (200..<300).contains(status) else {
            let error = TusFailure.refusal(answer.head, now: now)
            guard DeliveryRule.isGone(status) || status == 403 else { throw error }
            // The upload had all its parts and was complete: a process on the server may have collected it.
            throw TusFailure.goneAtItsEnd(
                "the server no longer has the upload (\(status) \(StatusRule.reason(status)))")
        }
        let length = try TusFields.length(answer.head)
        guard length == nil || length == source.size else {
            throw TransferError(
                .badResponse, "the server has joined the parts to \(CountText.bytes(length ?? 0)), not \(source.size)")
        }
        // Before the parts are joined the offset is missing, or has no meaning (tus 1.0.0, "Concatenation").
        let isJoined =
            answer.head.singleValue("Upload-Offset") == nil
            ? false : try TusFields.offset(answer.head, of: "HEAD") == source.size
        guard isJoined else { throw TusFailure.passing("the server is still joining the parts of the upload") }
        return [.confirmed(source.size)]
            + finish(UploadResult(url: joined ?? url, status: status, validator: answer.head.value("ETag")))
    }

    /// Returns the failure of a creation. A gateway that times out does not know what the server behind it did.
    func refusal(_ head: ResponseHead, now: Int64) -> TransferError {
        mayBeFinished && DeliveryRule.leavesOpen(head.status)
            ? TusFailure.mayBeFinished(url) : TusFailure.refusal(head, now: now)
    }

    /// Returns the URL of the upload in a creation's answer.
    func location(_ answer: UploadAnswer) throws(TransferError) -> String {
        guard let text = answer.head.singleValue("Location"), !text.isEmpty else {
            throw TransferError(
                .badResponse,
                "\(Redaction.url(url)) does not say where the upload is (Location is missing): it may be no tus server")
        }
        guard let place = URLReference.resolve(text, against: answer.url), let origin = Origin(url: place) else {
            throw TransferError(
                .badResponse, "what the server says of where the upload is cannot be a URL: \(TusFailure.quoted(text))")
        }
        if origin.scheme == "http", Origin(url: answer.url)?.scheme == "https" {
            throw TransferError(
                .redirectRefused,
                "the server, asked by https, wants the file by http (Location: \(Redaction.url(place))); behind a proxy it "
                    + "has to be configured with the URL under which clients reach it")
        }
        return place
    }
}
