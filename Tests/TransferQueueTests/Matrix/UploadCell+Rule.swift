/// What has to come of an upload, by what the server did: a rule of the three axes, from RFC 9110 and the protocols' own
/// specifications.
extension UploadCell {
    var nature: MatrixNature {
        switch fault.what {
        // A question that is refused leaves open what is there, and nothing that could begin anew ends by it.
        case .question where mayHaveArrived && fault.status.map { $0 < 500 || $0 == 501 } ?? false:
            // All of it had been sent, and the server doesn't say what it has of it.
            return .either
        case .question, .joining: return .passing
        case .creation: return fault.status.map(ofCreation) ?? .passing
        // Whether it counts, nobody can say; a POST isn't sent again for that.
        case .body where fault.isEarlyReceipt && way == .post: return .final("before all had been sent")
        case .body: return fault.status.map(ofStatus) ?? ofSilence
        }
    }

    private func ofCreation(_ status: Int) -> MatrixNature {
        MatrixStatuses.passing.contains(status) ? .passing : .final("\(status)")
    }

    private func ofStatus(_ status: Int) -> MatrixNature {
        let final = MatrixNature.final(word(status))
        // A creation of the draft that is refused each time tells nobody where its upload is.
        let resumes = way == .tus || way == .ietf && moment != .after
        // What came before the answer is kept, so that each attempt has less to send.
        if fault.isForEver { return resumes && moment != .first && status != 403 ? .passing : final }
        // The same method where it leads (RFC 9110 §15.4.2, §15.4.3, §15.4.8, §15.4.9); only POST changes.
        if [301, 302].contains(status), fault.name.hasSuffix("page"), way == .put || way == .watch { return .passing }
        if status == 307 || status == 308 { return .passing }
        // Without its Expect it may be taken (RFC 9110 §15.5.18); protocols with interim answers send none.
        if status == 417, way != .s3Parts || moment != .middle { return isPlain ? .passing : final }
        if way == .post {
            // Nothing was done with it (RFC 9110 §15.5.20, RFC 6585 §4 and §6).
            return [421, 429, 511].contains(status) ? .passing : final
        }
        if MatrixStatuses.passing.contains(status) { return .passing }
        switch way {
        // The upload is gone, a piece was too long, or it has another offset (tus 1.0.0; the draft's "Upload Append"; S3's NoSuchUpload).
        case .tus where mayHaveArrived && [404, 410].contains(status): return .either
        case .tus: return [404, 409, 410, 413].contains(status) ? .passing : final
        // And a piece was too long.
        case .ietf: return [404, 409, 410, 413].contains(status) ? .passing : final
        case .s3Parts:
            // A part is repeated in the attempt; its answer may be lost while the part is still sent.
            return moment == .middle ? .either : status == 404 ? .passing : final
        default: return final
        }
    }

    /// Whether a tus upload's last bytes had been sent: where it's gone then, it may have been taken.
    private var mayHaveArrived: Bool { way == .tus && (moment == .last || moment == .after) }

    private var isPlain: Bool { [.put, .post, .watch].contains(way) }

    private func word(_ status: Int) -> String {
        way == .tus && status == 412 ? "tus 1.0.0" : "\(status)"
    }

    /// Nobody said anything that counts.
    private var ofSilence: MatrixNature {
        if fault.name.hasPrefix("103") { return .passing }
        // Nothing of it has left while the server is asked whether it wants it (RFC 9110 §10.1.1).
        if way == .post { return moment == .first && !fault.isForEver ? .passing : .final("") }
        guard fault.isForEver else { return .passing }
        switch way {
        case .tus, .ietf: return moment == .first ? .final("") : .passing
        // What was taken is there, and is asked for.
        case .s3Parts: return moment == .last || moment == .after ? .passing : .final("")
        default: return moment == .after ? .passing : .final("")
        }
    }
}
