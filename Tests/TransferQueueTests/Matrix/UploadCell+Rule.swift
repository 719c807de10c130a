/// The required outcome of an upload for each fault of a server: a rule of the three axes, from RFC 9110 and the
/// protocols' own specifications.
extension UploadCell {
    var nature: MatrixNature {
        switch fault.what {
        // A refused query leaves open which bytes have arrived, and an upload that could begin anew does not end by it.
        case .question where mayHaveArrived && fault.status.map { $0 < 500 || $0 == 501 } ?? false:
            // All bytes had been sent, and the server does not say which of them it has.
            return .either
        case .question, .joining: return .passing
        case .creation: return fault.status.map(ofCreation) ?? .passing
        // The effect of the request is unknown; a POST is not sent again for that.
        case .body where fault.isEarlyReceipt && way == .post: return .final("before all had been sent")
        case .body: return fault.status.map(ofStatus) ?? ofSilence
        }
    }

    private func ofCreation(_ status: Int) -> MatrixNature {
        MatrixStatuses.passing.contains(status) ? .passing : .final("\(status)")
    }

    private func ofStatus(_ status: Int) -> MatrixNature {
        let final = MatrixNature.final(word(status))
        // A server that refuses each creation of the draft gives no client the upload's URL.
        let resumes = way == .tus || way == .ietf && moment != .after
        // The bytes that arrived before the answer are kept, so that each attempt has less to send.
        if fault.isForEver { return resumes && moment != .first && status != 403 ? .passing : final }
        // The client follows with the same method (RFC 9110 §15.4.2, §15.4.3, §15.4.8, §15.4.9); only POST changes.
        if [301, 302].contains(status), fault.name.hasSuffix("page"), way == .put || way == .watch { return .passing }
        if status == 307 || status == 308 { return .passing }
        // A request without Expect may be accepted (RFC 9110 §15.5.18); protocols with interim answers send none.
        if status == 417, way != .s3Parts || moment != .middle { return isPlain ? .passing : final }
        if way == .post {
            // The server has not processed the request (RFC 9110 §15.5.20, RFC 6585 §4 and §6).
            return [421, 429, 511].contains(status) ? .passing : final
        }
        if MatrixStatuses.passing.contains(status) { return .passing }
        switch way {
        // The upload no longer exists, a piece was too long, or the offset differs (tus 1.0.0; the draft's "Upload
        // Append"; S3's NoSuchUpload).
        case .tus where mayHaveArrived && [404, 410].contains(status): return .either
        case .tus: return [404, 409, 410, 413].contains(status) ? .passing : final
        // 413 is transient as well: a piece was too long.
        case .ietf: return [404, 409, 410, 413].contains(status) ? .passing : final
        case .s3Parts:
            // A part is repeated in the attempt; its answer may be lost while the part is still sent.
            return moment == .middle ? .either : status == 404 ? .passing : final
        default: return final
        }
    }

    /// Whether a tus upload's last bytes had been sent. An upload that no longer exists may then have been accepted.
    private var mayHaveArrived: Bool { way == .tus && (moment == .last || moment == .after) }

    private var isPlain: Bool { [.put, .post, .watch].contains(way) }

    private func word(_ status: Int) -> String {
        way == .tus && status == 412 ? "tus 1.0.0" : "\(status)"
    }

    /// The outcome when no server gives an answer that counts.
    private var ofSilence: MatrixNature {
        if fault.name.hasPrefix("103") { return .passing }
        // No byte of the body has left while the client waits for 100 (Continue) (RFC 9110 §10.1.1).
        if way == .post { return moment == .first && !fault.isForEver ? .passing : .final("") }
        guard fault.isForEver else { return .passing }
        switch way {
        case .tus, .ietf: return moment == .first ? .final("") : .passing
        // The received parts are there, and the client queries them.
        case .s3Parts: return moment == .last || moment == .after ? .passing : .final("")
        default: return moment == .after ? .passing : .final("")
        }
    }
}
