public import TransferCore

/// The rule that decides which answers to a request with the whole file are receipts, so that the server has it.
///
/// A receipt is the answer to the request itself. A redirect to another page is no receipt: sign-in gateways answer
/// every request so. For methods of forms, many servers confirm by 302 and 303, which count where the job names them. A
/// redirect to another origin, or to a sign-in page, never counts. 202 means that the file came, and not that it is
/// stored (RFC 9110 §15.3.3).
///
/// A success with another meaning (``StatusRule/isStored(_:method:)``) is no receipt, and neither is a page for people in
/// answer to a PUT, as captive portals send it. Only the server's copy of the file proves its arrival then.
public struct ReceiptRule: Sendable, Hashable {
    /// The statuses that the job calls a success, among those of ``isNameable(_:)``.
    ///
    /// `nil` accepts each 2xx that states the file's arrival, where 202 waits until the file can be seen.
    public var success: Set<Int>?
    /// The method of the upload.
    public var method: String

    /// Creates a rule.
    public init(method: String, success: Set<Int>? = nil) {
        self.method = method
        self.success = success
    }

    /// Returns whether a job may call a status a success.
    public static func isNameable(_ status: Int) -> Bool { (200..<300).contains(status) || isPage(status) }

    /// Returns whether a status leads the sender of a form to another page.
    public static func isPage(_ status: Int) -> Bool { pages.contains(status) }

    /// The redirects that follow a form (RFC 9110 §15.4.3 and §15.4.4).
    private static let pages: Set<Int> = [302, 303]

    /// The judgement of an answer.
    public enum Verdict: Sendable, Hashable {
        case stored
        /// The file was sent, and is not confirmed: the server is asked for it.
        case accepted
        /// The answer is a success and no statement about the file: only the server's copy is a receipt.
        ///
        /// - Parameter because: The answer in words.
        case doubtful(because: String)
        /// The answer is a receipt, unless it leads to a sign-in page.
        case redirected(to: String)
        case refused(TransferError)
    }

    /// Judges an answer.
    ///
    /// - Parameters:
    ///   - answer: The answer to the request with the whole file, after redirects that repeated it.
    ///   - url: The destination of the file.
    public func judge(_ answer: UploadAnswer, to url: String, now: Int64) -> Verdict {
        let status = answer.head.status
        if (300..<400).contains(status), status != 304 { return judgeRedirect(answer, now: now) }
        guard (200..<300).contains(status) else { return .refused(StatusRule.error(answer.head, now: now)) }
        if answer.url != url, SignInPage.isLikely(answer.url), SignInPage.isPage(answer.head) {
            return .refused(refusal(status, "came from \(Redaction.url(answer.url)), where people sign in"))
        }
        let verdict = judge(status: status)
        guard case .stored = verdict, let doubt = doubt(about: answer) else { return verdict }
        return .doubtful(because: doubt)
    }

    /// Returns the reason in words why a success says nothing about the file; `nil` where it is a receipt.
    ///
    /// A 201 with a page is one: servers describe the new resource so (RFC 9110 §15.3.2). Only a page that asks for a
    /// password outweighs a status that the job names.
    private func doubt(about answer: UploadAnswer) -> String? {
        let status = answer.head.status
        let isNamed = success?.contains(status) == true
        let words = "the answer \(status) \(StatusRule.reason(status))"
        if !isNamed, !StatusRule.isStored(status, method: method) { return "\(words) is none to \(method)" }
        guard method == "PUT", SignInPage.isDocument(answer) else { return nil }
        if SignInPage.asksForPassword(answer.body) { return "\(words) is a page that asks for a password" }
        return isNamed || status == 201 ? nil : "\(words) is a page of HTML"
    }

    /// Judges the status of a success.
    ///
    /// - Parameter status: The status of the last request of the upload.
    func judge(status: Int) -> Verdict {
        guard let success else {
            if status == 202 { return .accepted }
            guard !StatusRule.isStored(status, method: method) else { return .stored }
            return .doubtful(because: "the answer \(status) \(StatusRule.reason(status)) is none to \(method)")
        }
        guard !success.contains(status) else { return .stored }
        let names = success.sorted().map(String.init).joined(separator: ", ")
        return .refused(refusal(status, "is not one of the answers that the job calls a success (\(names))"))
    }

    /// Judges the page to which a redirect led.
    ///
    /// - Returns: `.redirected` where the page leads on.
    func judgePage(_ answer: UploadAnswer, after status: Int) -> Verdict {
        switch answer.head.status {
        case 401, 403, 407, 511:
            return .refused(
                refusal(status, "leads to \(Redaction.url(answer.url)), which answers \(answer.head.status)"))
        case 301, 302, 303, 307, 308: return judgeTarget(answer, of: status)
        default:
            guard SignInPage.isPage(answer.head), SignInPage.asksForPassword(answer.body) else { return .stored }
            return .refused(refusal(status, "leads to \(Redaction.url(answer.url)), where people sign in"))
        }
    }

    // MARK: Redirects

    private func judgeRedirect(_ answer: UploadAnswer, now: Int64) -> Verdict {
        let status = answer.head.status
        guard target(of: answer) != nil else { return .refused(StatusRule.error(answer.head, now: now)) }
        let verdict = judgeTarget(answer, of: status)
        guard case .redirected(let target) = verdict else { return verdict }
        if method != "PUT", success?.contains(status) == true { return verdict }
        let words = "is a redirect to \(Redaction.url(target)), which is no receipt"
        guard method != "PUT", Self.pages.contains(status) else { return .refused(refusal(status, words)) }
        return .refused(
            TransferError(
                .mayHaveBeenSent,
                "the answer \(status) \(words); \(method) is not repeated, because it may have arrived; "
                    + "\"success\": [201, \(status)] in the job takes it for one"))
    }

    private func judgeTarget(_ answer: UploadAnswer, of status: Int) -> Verdict {
        guard let target = target(of: answer) else { return .stored }
        guard Origin(url: target) == Origin(url: answer.url) else {
            return .refused(refusal(status, "leads to another server, \(Redaction.url(target))"))
        }
        guard !SignInPage.isLikely(target) else {
            return .refused(refusal(status, "leads to \(Redaction.url(target)), where people sign in"))
        }
        return .redirected(to: target)
    }

    private func target(of answer: UploadAnswer) -> String? {
        answer.head.singleValue("Location").flatMap { UploadLocation.url($0, from: answer.url) }
    }

    private func refusal(_ status: Int, _ words: String) -> TransferError {
        TransferError(
            .httpStatus, "the answer \(status) \(StatusRule.reason(status)) \(words)", cause: .http(status: status))
    }
}
