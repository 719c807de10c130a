import TransferCore
import TransferEngine

/// Traces of attempts that broke off. Only this process knows them; they are not stored.
struct AttemptHistory {
    private struct Trace {
        /// The furthest length that an attempt reached, in bytes.
        var reached: Int64?
        /// The URL that answered, with its secrets.
        var answeredURL: String?
        /// The number of attempts in a row that received nothing from that URL.
        var refusals = 0
        /// Whether a URL behind a redirect has refused the job, with no bytes received since.
        var wasRefusedElsewhere = false
        /// Whether another tool's partial file turned out not to be a beginning of this one.
        var adoptsNothing = false
        /// Whether the server had no further bytes of that file.
        var adoptedLonger = false
        /// Whether several sources together produced a wrong file.
        var mixesNothing = false
        /// Whether parts of the file turned out to differ from the requested ones.
        var dividesNothing = false
        /// The record of what the job's URLs have done.
        var sources: SourceStatistics?
        /// The version of a copy's source.
        var source: RemoteVersion?
    }

    private var traces: [Int64: Trace] = [:]

    /// An observation from an attempt.
    enum News {
        /// The bytes of the job came from this URL.
        case answered(url: String)
        /// The URL that the bytes came from has answered, but without more of them.
        case refused
        /// The file of another tool is not a beginning of this one.
        case adoptedWrongly
        /// The server has no further bytes of the file of another tool.
        case adoptedLonger
        /// The bytes from several sources at once are wrong.
        case mixedWrongly
        /// A part differs from the requested one.
        case dividedWrongly
    }

    mutating func note(_ id: Int64, _ news: News) {
        switch news {
        case .answered(let url): note(id, answeredURL: url)
        case .refused: noteRefusal(id)
        case .adoptedWrongly: refuseAdoption(id)
        case .adoptedLonger:
            refuseAdoption(id)
            traces[id]?.adoptedLonger = true
        case .dividedWrongly: traces[id, default: Trace()].dividesNothing = true
        case .mixedWrongly: traces[id, default: Trace()].mixesNothing = true
        }
    }

    /// Returns whether an attempt brought a job further than any before it. An attempt that loses its bytes and begins
    /// anew makes no progress.
    mutating func cameFurther(_ id: Int64, from start: Int64, to position: Int64) -> Bool {
        guard ProgressRule.isProgress(position - (traces[id]?.reached ?? start)) else { return false }
        traces[id, default: Trace()].reached = position
        return true
    }

    /// Notes the URL that the bytes of the job came from.
    mutating func note(_ id: Int64, answeredURL url: String) {
        // The record holds a URL without secrets, so only one with secrets has to be kept here.
        traces[id, default: Trace()].answeredURL = Redaction.hasSecret(url) ? url : nil
        traces[id]?.refusals = 0
        traces[id]?.wasRefusedElsewhere = false
    }

    /// Returns whether the job's own URL is asked again after a refusal behind a redirect. It is asked once, because
    /// the next redirect may lead elsewhere.
    mutating func asksOwnURLAgain(_ id: Int64) -> Bool {
        guard traces[id]?.wasRefusedElsewhere != true else { return false }
        traces[id, default: Trace()].wasRefusedElsewhere = true
        return true
    }

    /// Notes that the URL that the bytes came from has answered without more of them.
    mutating func noteRefusal(_ id: Int64) { traces[id, default: Trace()].refusals += 1 }

    /// Returns whether the URL that the bytes came from is asked before the job's own. It is not if it repeatedly gives
    /// nothing, such as a machine retired behind its gateway.
    func asksPlace(_ id: Int64) -> Bool { (traces[id]?.refusals ?? 0) < ResumeDoubt.confirmations }

    func answeredURL(of id: Int64) -> String? { traces[id]?.answeredURL }

    mutating func refuseAdoption(_ id: Int64) { traces[id, default: Trace()].adoptsNothing = true }

    /// Returns whether the server had no further bytes of another tool's file.
    func adoptedLonger(_ id: Int64) -> Bool { traces[id]?.adoptedLonger == true }

    func mayAdopt(_ id: Int64) -> Bool { traces[id]?.adoptsNothing != true }

    func mayMix(_ id: Int64) -> Bool { traces[id]?.mixesNothing != true }

    /// Returns whether several connections may fetch the job's file.
    func mayDivide(_ id: Int64) -> Bool { traces[id]?.dividesNothing != true }

    mutating func keep(_ sources: SourceStatistics, of id: Int64) { traces[id, default: Trace()].sources = sources }

    func sources(of id: Int64) -> SourceStatistics { traces[id]?.sources ?? SourceStatistics() }

    mutating func keep(_ source: RemoteVersion, of id: Int64) { traces[id, default: Trace()].source = source }

    func source(of id: Int64) -> RemoteVersion? { traces[id]?.source }

    mutating func forget(_ id: Int64) { traces[id] = nil }
}
