import CTransferCurl
import TransferCore

// Answers whose codings are taken off before they are delivered.
extension ActiveExchange {
    /// What can't be decoded is delivered as it came, with its Content-Encoding to tell.
    func chooseDecoder(_ start: BodyStart) throws(TransferError) {
        answer.decoder = nil
        guard request.settings.decodes, case .message = request.intent, start.isCoded,
            let coding = start.head.contentCoding, ContentCoding.canDecode(coding)
        else { return }
        let layers = ContentCoding.layers(coding)
        if !layers.isEmpty { answer.decoder = try ContentDecoder(layers) }
    }

    /// Whether the body is decoded before it's delivered.
    var isCoded: Bool { answer.decoder != nil }

    func decode(_ bytes: UnsafeRawBufferPointer, _ decoder: ContentDecoder) -> Received {
        noteActivity()
        // libcurl brings a piece that was refused again from its beginning, perhaps in smaller parts.
        let known = min(answer.decodedAhead, bytes.count)
        answer.decodedAhead -= known
        var rest = UnsafeRawBufferPointer(rebasing: bytes[known...])
        do throws(TransferError) {
            while true {
                // A small piece may become a thousand times as long: the sink is asked before each part of it.
                guard sink.isReady else {
                    answer.decodedAhead += bytes.count - rest.count
                    return .held
                }
                guard let piece = try decoder.next(&rest) else { break }
                try sink.write(piece)
                received += Int64(piece.count)
                if let limit = request.settings.maxDecodedLength, received > limit {
                    throw TransferError(
                        .badResponse, "the answer is larger than \(limit) bytes when it's decoded")
                }
            }
        } catch {
            stopReason = .failed(error)
            return .stop
        }
        // Progress is told in the bytes whose number was announced.
        settleMeter()
        throttle(bytes.count)
        return .taken
    }

    /// Why what came isn't all of the body, although its framing says so: its last codings have an end of their own.
    var decodingFailure: TransferError? {
        // A part of a coded body needn't have its end (RFC 9110 §14.2: ranges are of the coded bytes).
        guard answer.phase == .body, start?.head.status != 206 else { return nil }
        return answer.decoder?.failure
    }

    /// The last word on how much of a coded answer came.
    func settleMeter() {
        guard isCoded, let handle else { return }
        meter.update(position: handle.offset(CURLINFO_SIZE_DOWNLOAD_T))
    }
}
