import TransferCore

/// The rule for keeping bytes of an earlier attempt.
///
/// A file is never put together from two versions, and no single answer discards bytes that were right. A range is
/// requested under a condition that the server must check (If-Range with a strong validator, RFC 9110 §13.1.5). Without
/// a condition, a digest of the whole must decide in the end. The answer must fit the existing bytes in every respect
/// that it states. A contradicting answer either names another version, with validators of its own, or is an odd
/// answer, which proves nothing.
struct ResumeRule {
    let point: ResumePoint
    /// Whether the answer comes from the resource to which the bytes belong.
    var isSamePlace = true
    /// The fields of the request, which may ask for codings.
    var headers: [HeaderField] = []

    /// The first question, and the reason to request the whole file where the bytes cannot be continued.
    var firstQuestion: (question: ResumeQuestion, restart: String?) {
        if isRefuted { return (.whole, ResumeClaim.otherBytesReason) }
        if let total = point.total, point.offset > total {
            return (.whole, "there are \(CountText.bytes(point.offset)) of a file of \(total)")
        }
        let isConditional = point.validator?.ifRange != nil
        guard isConditional || point.needsNoValidator else {
            if point.isWhole, point.validator != nil { return (.validation, nil) }
            return (.whole, reasonNotToResume)
        }
        return (point.isWhole ? .lastByte(isConditional: isConditional) : .rest(isConditional: isConditional), nil)
    }

    private var reasonNotToResume: String {
        point.validator == nil
            ? "the server gave neither ETag nor Last-Modified to continue by"
            : "the server's validator is too weak to continue by"
    }

    enum Verdict: Equatable {
        /// The body continues the existing bytes. It begins `overlap` bytes before their end, and these are compared.
        case append(overlap: Int64, total: Int64?)
        /// The body is the whole file, of another version.
        case anew(reason: String)
        /// The body is not used, and another question follows.
        ///
        /// - Parameter restart: The reason to discard the bytes, if the next answer is another version.
        case ask(ResumeQuestion, restart: String?)
        /// The answer proves nothing: the attempt has failed, and the bytes stay.
        case refuse(claim: String, reason: String)
        /// The status is a refusal. The bytes stay, and the claim is counted like those of ``refuse``.
        case fail(claim: String)
        /// All bytes exist already.
        case complete

        /// Whether the existing bytes are discarded.
        var beginsAnew: Bool {
            switch self {
            case .anew, .ask(.whole, restart: _): true
            case .append, .ask, .refuse, .fail, .complete: false
            }
        }
    }

    /// Judges an answer to the question.
    ///
    /// - Returns: `nil` for an answer that does not concern the existing bytes.
    func judge(_ head: ResponseHead, to question: ResumeQuestion) -> Verdict? {
        switch head.status {
        case let status where StatusRule.isWhole(status): judgeWhole(head, question)
        case 206 where question.isRange: judgePartial(head, question)
        case 206 where point.outlastsOddAnswers:
            .refuse(claim: "part", reason: "206 Partial Content for a request without a range")
        // Elsewhere the 304 is about a version of another resource.
        case 304 where question == .validation: isSamePlace ? .complete : .ask(.whole, restart: Self.elsewhere)
        case 416 where question.isRange: judgeUnsatisfiable(head, question)
        case 416 where point.outlastsOddAnswers:
            .refuse(claim: "part", reason: "416 Range Not Satisfiable for a request without a range")
        case let status where (201..<300).contains(status) || status == 304:
            // A success that is neither the file nor a part of it proves nothing about the file.
            point.outlastsOddAnswers
                ? .refuse(claim: "status:\(status)", reason: "\(status) came instead of the rest of the file") : nil
        case let status where question.isRange && !point.isPart && StatusRule.mayBeOfRange(status):
            judgeRefusal(head, question)
        default: nil
        }
    }

    // MARK: A refusal

    /// Judges a refusal: a server that refuses ranges may give the whole file to a request without one.
    ///
    /// The whole file is requested at once after a permanent refusal. A temporary one may be due to the server's load,
    /// and is believed after ``ResumeDoubt/confirmations`` attempts.
    private func judgeRefusal(_ head: ResponseHead, _ question: ResumeQuestion) -> Verdict? {
        // A program that asks for a range itself gets the refusal, and decides.
        guard point.outlastsOddAnswers else { return nil }
        let isOfCondition = head.status == 400 || head.status == 412
        if isOfCondition, let plain = question.unconditional { return .ask(plain, restart: nil) }
        guard StatusRule.mayPass(head.status) else { return .ask(.whole, restart: nil) }
        guard head.value("Retry-After") == nil else { return nil }
        let claim = "refused:\(head.status)"
        return ResumeClaim.isConfirmed(claim, point.doubt) ? .ask(.whole, restart: nil) : .fail(claim: claim)
    }

    // MARK: A part

    private func judgePartial(_ head: ResponseHead, _ question: ResumeQuestion) -> Verdict {
        // RFC 9110 §15.3.7.2: the body of such an answer is no range, regardless of a Content-Range beside it.
        if head.mediaType == "multipart/byteranges" {
            return odd("range:several", "the server sent several ranges for one")
        }
        guard let field = head.value("Content-Range") else {
            return odd("range:none", "a 206 answer without Content-Range")
        }
        guard let contentRange = ContentRange(field), let range = contentRange.range else {
            return odd("range:malformed", "an answer with a malformed Content-Range")
        }
        if !point.needsNoValidator {
            if !isSamePlace { return .ask(.whole, restart: Self.elsewhere) }
            // A server that ignores If-Range still shows by its validators that the file has changed.
            if let reason = changeReason(head) { return .ask(.whole, restart: reason) }
        }
        if let total = point.total, let now = contentRange.total, total != now {
            return odd("total:\(now)", "changed on server (\(total)→\(CountText.bytes(now)))")
        }
        if let length = head.contentLength, length != range.upperBound - range.lowerBound {
            return odd("length", "Content-Length and Content-Range of the answer differ")
        }
        if !point.needsNoValidator, isUnreported(head, question) {
            // §15.3.7 requires Last-Modified only in the answer to a request without a condition.
            if point.validator?.etag == nil, let plain = question.unconditional { return .ask(plain, restart: nil) }
            let field = point.validator?.etag == nil ? "Last-Modified" : "ETag"
            return odd("untold", "the server's part does not say of which version it is (no \(field))")
        }
        if let end = point.end, point.namesEnd, range.upperBound > end,
            question == .rest(isConditional: false)
                || question == .rest(isConditional: true)
        {
            return odd(
                "to:\(range.upperBound)",
                "asked for the bytes up to \(end), the server sent those up to \(range.upperBound)")
        }
        guard hasSameCoding(head) else {
            return odd(
                "coding", "the server applied a\(head.contentCoding == nil ? "nother" : "") content coding to a range")
        }
        let total = contentRange.total ?? point.total
        let overlap = point.offset - range.lowerBound
        if range.lowerBound == question.start(point) { return .append(overlap: overlap, total: total) }
        let claim = "from:\(range.lowerBound)"
        // Comparing these bytes may cost more than another request. If that was tried before, comparing is the only
        // way.
        let left = max(Self.smallOverlap, range.upperBound - point.offset)
        if overlap > 0, range.upperBound > point.offset, point.needsNoValidator || isProven(head),
            overlap <= left || point.doubt?.claim == claim || !point.outlastsOddAnswers
        {
            return .append(overlap: overlap, total: total)
        }
        return odd(
            claim, "asked for the bytes from \(question.start(point)), the server sent those from \(range.lowerBound)")
    }

    private static let smallOverlap: Int64 = 64 << 10

    /// Returns whether a part does not name the version to which the bytes belong.
    ///
    /// §15.3.7 requires the tag in the part, so a server that omits it has not checked If-Range either. The date may be
    /// left out of the answer to a condition. That answer looks like that of a server that ignored the condition, so it
    /// proves nothing. Without a condition the answer must name the same version.
    private func isUnreported(_ head: ResponseHead, _ question: ResumeQuestion) -> Bool {
        guard question.unconditional != nil, point.validator?.etag != nil else { return !isProven(head) }
        return Validator(head)?.etag == nil
    }

    // MARK: The whole

    /// Judges a success that is the whole file by its status.
    ///
    /// Some servers send a part under 200, with the field that names the part.
    private func judgeWhole(_ head: ResponseHead, _ question: ResumeQuestion) -> Verdict {
        if question.isRange, let field = head.value("Content-Range") {
            guard let contentRange = ContentRange(field), let range = contentRange.range,
                range.lowerBound == 0, range.upperBound == contentRange.total ?? head.contentLength
            else { return judgePartial(head, question) }
        }
        let length = head.value("Transfer-Encoding") == nil ? head.contentLength : nil
        if isProven(head), hasSameCoding(head) { return judgeSame(head, question, length) }
        if isPage(head) { return .refuse(claim: "page", reason: "a page of HTML came instead of the file") }
        if isRecoded(head) { return .refuse(claim: "coding", reason: isProven(head) ? Self.recoded : Self.unasked) }
        let mayBeAll = length == nil || point.total == nil || length == point.total
        if point.needsNoValidator, mayBeAll, !isRefuted, hasSameCoding(head) {
            if let plain = question.unconditional { return .ask(plain, restart: nil) }
            return .append(overlap: point.offset, total: length ?? point.total)
        }
        if let reason = changeReason(head) { return .anew(reason: reason) }
        let hasLostVersion = Validator(head) == nil && point.validator?.ifRange != nil && !point.needsNoValidator
        let claim = "whole:\(length.map { "\($0)" } ?? "")"
        if !isSamePlace {
            return hasLostVersion
                ? odd(claim, Self.unversioned, confirmed: .anew(reason: Self.elsewhere)) : .anew(reason: Self.elsewhere)
        }
        // The whole file was requested, as no other question fitted: an answer that names its version is accepted.
        let isWanted = question == .whole && Validator(head) != nil
        guard point.outlastsOddAnswers, point.validator?.ifRange != nil, !isWanted else {
            return .anew(reason: Self.whole)
        }
        if length != nil, length == point.total, hasSameCoding(head), !isRefuted {
            // No field shows another version: a comparison of the bytes decides.
            return .append(overlap: point.offset, total: length)
        }
        // The answer may come from a proxy or an application: bytes without a version never replace those with one.
        if hasLostVersion { return .refuse(claim: claim, reason: Self.unversioned) }
        return odd(claim, Self.whole, confirmed: .anew(reason: Self.whole))
    }

    /// Judges an answer with the whole of the version to which the bytes belong.
    private func judgeSame(_ head: ResponseHead, _ question: ResumeQuestion, _ length: Int64?) -> Verdict {
        if let total = point.total, let length, length != total {
            let reason = "the server sent \(CountText.bytes(length)) as all of the same \(total)"
            // A strong tag promises the same bytes (RFC 9110 §8.8.1), so one of the two answers is wrong, or cut.
            // Repetition does not show which.
            // A length that ranges stated in several attempts refutes the one that was announced first.
            let isStated = ["total:\(length)", "unsatisfiable:\(length)"]
                .contains { ResumeClaim.isConfirmed($0, point.doubt) }
            if point.validator?.hasStrongETag == true, point.outlastsOddAnswers, !point.needsNoValidator, !isStated {
                return .refuse(claim: "whole:\(length)", reason: reason + Self.advice)
            }
            // The whole file was requested, as no other question fitted: the length that was announced earlier is
            // wrong.
            return question == .whole ? .anew(reason: reason) : odd("whole:\(length)", reason)
        }
        if isRefuted { return .anew(reason: ResumeClaim.otherBytesReason) }
        if point.isWhole { return .complete }
        // The server does not support this condition. Its answer to a plain range shows by its tag whether it fits
        // (§15.3.7.3).
        if let plain = question.unconditional, head.value("Accept-Ranges")?.lowercased() != "none" {
            return .ask(plain, restart: nil)
        }
        return .append(overlap: point.offset, total: length ?? point.total)
    }

    // MARK: Nothing

    private func judgeUnsatisfiable(_ head: ResponseHead, _ question: ResumeQuestion) -> Verdict {
        if !point.needsNoValidator {
            if !isSamePlace { return .ask(.whole, restart: Self.elsewhere) }
            if let reason = changeReason(head) { return .ask(.whole, restart: reason) }
        }
        let total = head.value("Content-Range").flatMap { ContentRange($0) }?.total
        if let total, total == point.offset, point.total == nil || point.total == total {
            if isProven(head) { return .complete }
            if case .rest = question {
                return .ask(.lastByte(isConditional: point.validator?.ifRange != nil), restart: nil)
            }
        }
        return odd(
            "unsatisfiable:\(total.map { "\($0)" } ?? "")",
            "the server has no bytes from \(question.start(point)) on\(total.map { " (of \($0))" } ?? "")")
    }

    // MARK: What an answer shows

    /// Returns the verdict on an answer that fits neither the bytes nor another version.
    ///
    /// - Parameter confirmed: The verdict when such an answer comes repeatedly; by default the whole file is requested.
    private func odd(_ claim: String, _ reason: String, confirmed: Verdict? = nil) -> Verdict {
        guard point.outlastsOddAnswers, !ResumeClaim.isConfirmed(claim, point.doubt) else {
            return confirmed ?? .ask(.whole, restart: reason)
        }
        return .refuse(claim: claim, reason: reason)
    }

    /// Returns whether the answer names the version to which the bytes belong.
    private func isProven(_ head: ResponseHead) -> Bool {
        guard isSamePlace, let old = point.validator, let new = Validator(head) else { return false }
        return old.isSame(as: new)
    }

    /// Whether the bytes were repeatedly found to differ from a server's.
    private var isRefuted: Bool { ResumeClaim.isConfirmed(ResumeClaim.otherBytes, point.doubt, ahead: 0) }

    private func hasSameCoding(_ head: ResponseHead) -> Bool {
        ContentCoding.areEqual(head.contentCoding ?? "", point.contentCoding ?? "")
    }

    /// Returns whether the answer is an HTML page, such as a login page, in place of a file that is none.
    private func isPage(_ head: ResponseHead) -> Bool {
        guard point.outlastsOddAnswers, MediaType.isPage(head.mediaType) else { return false }
        if let mediaType = point.mediaType { return !MediaType.isPage(mediaType) }
        // The file's own type is unknown: its version or its length are the claims that the page does not meet.
        let hasOtherLength = point.total != nil && head.contentLength != point.total
        return Validator(head) == nil && (point.validator != nil || hasOtherLength)
    }

    /// Returns whether the answer is in a coding that the existing bytes do not have and that is of no use for them.
    ///
    /// The same version in a coding has other bytes. Another version in a coding is another kind of file, unless the
    /// request asked for the coding. Neither replaces bytes that came under a version.
    private func isRecoded(_ head: ResponseHead) -> Bool {
        guard point.outlastsOddAnswers, !point.needsNoValidator, let coding = head.contentCoding,
            !ContentCoding.areEqual(coding, point.contentCoding ?? "")
        else { return false }
        if isProven(head) { return true }
        return point.validator?.ifRange != nil && !ContentCoding.isRequested(coding, by: headers)
    }

    /// Returns how the answer shows that the file changed, or `nil` when it does not.
    private func changeReason(_ head: ResponseHead) -> String? {
        guard let old = point.validator, let new = Validator(head), !old.mayEqual(new) else { return nil }
        if let before = old.etag, let after = new.etag {
            return "changed on server (ETag \(Self.short(before))→\(Self.short(after)))"
        }
        return "changed on server (Last-Modified \(old.lastModified ?? "none")→\(new.lastModified ?? "none"))"
    }

    private static let advice = " (to begin anew, remove the partial file)"
    private static let recoded =
        "the answer has another content coding than the bytes that are there, which are of the same version" + advice
    private static let unasked = "the answer has a content coding that was not requested" + advice
    private static let whole = "the server sent the whole file instead of the rest"
    private static let unversioned = "the answer does not say of which version it is" + advice
    private static let elsewhere = "another URL answers now than the one that the bytes are from"

    private static func short(_ etag: String) -> String {
        let opaque = etag.filter { $0 != "\"" }
        return opaque.count > 16 ? opaque.prefix(15) + "…" : opaque
    }
}

extension TransferError {
    static let otherBytes = TransferError(.badResponse, ResumeClaim.otherBytesReason, isTransient: true)
}

/// The claims of answers against existing bytes.
enum ResumeClaim {
    /// The claim that bytes which the server sent again differ from the existing ones.
    static let otherBytes = "bytes"
    static let otherBytesReason = "the server's bytes differ from those that are there"

    /// Returns whether the claim shows that another tool's bytes are no beginning of the file.
    ///
    /// No statement of a server about its length or bytes was ever known to fit such bytes.
    static func refutesAdopted(_ claim: String) -> Bool {
        claim == otherBytes || claim.hasPrefix("unsatisfiable:") && !claim.hasSuffix(":")
    }

    /// Returns whether a claim has been made often enough.
    ///
    /// - Parameter ahead: The claims to count on top: 1 where the current answer makes the claim once more.
    static func isConfirmed(_ claim: String, _ doubt: ResumeDoubt?, ahead: Int = 1) -> Bool {
        guard let doubt, doubt.claim == claim else { return ResumeDoubt.confirmations <= ahead }
        return doubt.count + ahead >= ResumeDoubt.confirmations
    }
}
