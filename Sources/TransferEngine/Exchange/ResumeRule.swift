import TransferCore

/// When bytes of an earlier attempt may be kept: a file is never put together from two versions.
///
/// A range is asked for only with a condition the server must check (If-Range with a strong validator,
/// RFC 9110 §13.1.5), and what comes back must fit what is there in every respect that it states.
struct ResumeRule {
    let point: ResumePoint

    /// The fields that ask for the rest, or `nil` when only a new start is safe.
    var requestHeaders: [HeaderField]? {
        let range = HeaderField("Range", "bytes=\(point.offset)-")
        if let condition = point.validator?.ifRange { return [range, HeaderField("If-Range", condition)] }
        return point.isVerifiedByDigest ? [range] : nil
    }

    /// Why a new start is needed where `requestHeaders` is `nil`.
    var reasonNotToResume: String {
        point.validator == nil
            ? "the server gave neither ETag nor Last-Modified to continue by"
            : "the server's validator is too weak to continue by"
    }

    enum Verdict: Equatable {
        /// The body is what follows the bytes that are there; it ends at `end` of `total`.
        case append(end: Int64, total: Int64?)
        /// The body is the whole file: overwrite what is there.
        case replace(reason: String)
        /// The body is of no use: ask again without a range.
        case startAgain(reason: String)
        /// Every byte is there already.
        case complete
    }

    /// Judges the answer to a request made with `requestHeaders`.
    func judge(_ head: ResponseHead) -> Verdict {
        switch head.status {
        case 206: judgePartial(head)
        case 416: judgeUnsatisfiable(head)
        default: judgeWhole(head)
        }
    }

    /// A success that by its status is the whole file. It may be a part all the same: some servers send one under 200, with
    /// the field that says which.
    private func judgeWhole(_ head: ResponseHead) -> Verdict {
        if let field = head.value("Content-Range") {
            guard let contentRange = ContentRange(field), let range = contentRange.range,
                range.lowerBound == 0, range.upperBound == contentRange.total ?? head.contentLength
            else { return judgePartial(head) }
        }
        if let reason = changeReason(head) { return .replace(reason: reason) }
        if let total = point.total, let length = head.contentLength, length != total, head.contentCoding == nil,
            point.validator?.etag != nil, head.value("ETag") != nil
        {
            return .startAgain(reason: "the server sent \(length) bytes as all of the same \(total)")
        }
        return .replace(reason: "the server sent the whole file instead of the rest")
    }

    private func judgePartial(_ head: ResponseHead) -> Verdict {
        guard let field = head.value("Content-Range") else {
            let isMultipart = head.value("Content-Type")?.lowercased().hasPrefix("multipart/byteranges") == true
            return .startAgain(
                reason: isMultipart ? "the server sent several ranges for one" : "a 206 answer without Content-Range")
        }
        guard let contentRange = ContentRange(field), let range = contentRange.range else {
            return .startAgain(reason: "an answer with a malformed Content-Range")
        }
        guard range.lowerBound == point.offset else {
            return .startAgain(
                reason: "asked for the bytes from \(point.offset), the server sent those from \(range.lowerBound)")
        }
        if let total = point.total, let now = contentRange.total, total != now {
            return .startAgain(reason: "changed on server (\(total)→\(now) bytes)")
        }
        if let length = head.contentLength, length != range.upperBound - range.lowerBound {
            return .startAgain(reason: "Content-Length and Content-Range of the answer differ")
        }
        // §15.3.7 wants the tag in the part; a server that leaves it out hasn't looked at If-Range either.
        if point.validator?.etag != nil, !point.isVerifiedByDigest, head.value("ETag") == nil {
            return .startAgain(reason: "the server's part doesn't say of which version it is (no ETag)")
        }
        // A server that ignores If-Range still shows by its validators that the file is another one.
        if let reason = changeReason(head) { return .startAgain(reason: reason) }
        if head.contentCoding != nil {
            return .startAgain(reason: "the server applied a content coding to a range")
        }
        return .append(end: range.upperBound, total: contentRange.total ?? point.total)
    }

    private func judgeUnsatisfiable(_ head: ResponseHead) -> Verdict {
        let total = head.value("Content-Range").flatMap { ContentRange($0) }?.total
        if let total, total == point.offset, point.total == nil || point.total == total, changeReason(head) == nil,
            Validator(head) != nil
        {
            return .complete
        }
        return .startAgain(
            reason: changeReason(head)
                ?? "the server has no bytes from \(point.offset) on\(total.map { " (of \($0))" } ?? "")")
    }

    /// How the answer shows that the file changed, or `nil` when it doesn't.
    private func changeReason(_ head: ResponseHead) -> String? {
        guard let old = point.validator, let new = Validator(head), !old.mayEqual(new) else { return nil }
        if let before = old.etag, let after = new.etag {
            return "changed on server (ETag \(Self.short(before))→\(Self.short(after)))"
        }
        return "changed on server (Last-Modified \(old.lastModified ?? "none")→\(new.lastModified ?? "none"))"
    }

    private static func short(_ etag: String) -> String {
        let opaque = etag.filter { $0 != "\"" }
        return opaque.count > 16 ? opaque.prefix(15) + "…" : opaque
    }
}
