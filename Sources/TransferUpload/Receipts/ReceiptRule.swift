public import TransferCore

/// The rule that says which answers to a request with the whole file are receipts: the server has it.
///
/// A receipt is the answer to the request itself. A redirect to another page is none: sign-in gateways answer each request by
/// one. For methods that forms use, 302 and 303 are how many servers say that they took something, and count where the
/// owner names them; one to another origin, or to a page where people sign in, never does. 202 says that the file came, and
/// not that it's stored (RFC 9110 §15.3.3).
public struct ReceiptRule: Sendable, Hashable {
    /// Statuses that the owner calls a success, out of ``nameable``; `nil` for each 2xx, of which 202 waits until the file
    /// can be seen.
    public var success: Set<Int>?
    /// The upload's.
    public var method: String

    public init(method: String, success: Set<Int>? = nil) {
        self.method = method
        self.success = success
    }

    /// Statuses that can be called a success.
    public static func isNameable(_ status: Int) -> Bool { (200..<300).contains(status) || isPage(status) }

    /// Whether it leads those who sent a form to another page.
    public static func isPage(_ status: Int) -> Bool { pages.contains(status) }

    /// Redirects after which a form's page is left (RFC 9110 §15.4.3 and §15.4.4).
    private static let pages: Set<Int> = [302, 303]

    public enum Verdict: Sendable, Hashable {
        case stored
        /// Sent, and not confirmed: the server is asked for the file.
        case accepted
        /// A receipt, unless people sign in at the page that it leads to.
        case redirected(to: String)
        case refused(TransferError)
    }

    /// - Parameters:
    ///   - answer: To the request with the whole file, after redirects that repeated that.
    ///   - url: Where the file was to go.
    public func judge(_ answer: UploadAnswer, to url: String, now: Int64) -> Verdict {
        let status = answer.head.status
        if (300..<400).contains(status), status != 304 { return judgeRedirect(answer, now: now) }
        guard (200..<300).contains(status) else { return .refused(StatusRule.error(answer.head, now: now)) }
        if answer.url != url, SignInPage.isLikely(answer.url), SignInPage.isPage(answer.head) {
            return .refused(refusal(status, "came from \(Redaction.url(answer.url)), where people sign in"))
        }
        return judge(status: status)
    }

    /// - Parameter status: A success, of whichever request of the upload was the last.
    func judge(status: Int) -> Verdict {
        guard let success else { return status == 202 ? .accepted : .stored }
        guard !success.contains(status) else { return .stored }
        let names = success.sorted().map(String.init).joined(separator: ", ")
        return .refused(refusal(status, "isn't one of the answers that the job calls a success (\(names))"))
    }

    /// The page that a named redirect leads to has been asked for.
    ///
    /// - Returns: `.redirected` where it leads on.
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
                "the answer \(status) \(words); \(method) isn't repeated, because it may have been taken; "
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
