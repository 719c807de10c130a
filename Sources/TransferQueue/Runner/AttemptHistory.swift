import TransferCore

/// Traces of attempts that broke off: this process knows them, and no store does.
struct AttemptHistory {
    private struct Trace {
        /// The length in bytes that the furthest of the attempts came to.
        var reached: Int64?
        /// The URL that answered, with its secrets.
        var answeredURL: String?
        /// Attempts in a row that got nothing from there.
        var refusals = 0
        /// A URL that a redirect led to has refused it, with nothing got since.
        var wasRefusedElsewhere = false
        /// Another tool's file turned out to be no beginning of this one.
        var adoptsNothing = false
        /// Several sources brought a wrong file together.
        var mixesNothing = false
        /// Parts of the file turned out to be other ones than those that were asked for.
        var dividesNothing = false
        /// What its URLs have done.
        var sources: SourceStatistics?
    }

    private var traces: [Int64: Trace] = [:]

    /// Something that an attempt showed.
    enum News {
        /// The bytes of the job came from this URL.
        case answered(url: String)
        /// The URL that the bytes came from has answered, and not by more of them.
        case refused
        /// The file of another tool is no beginning of this one.
        case adoptedWrongly
        /// What came from several sources at once is wrong.
        case mixedWrongly
        /// A part isn't the one that was asked for.
        case dividedWrongly
    }

    mutating func note(_ id: Int64, _ news: News) {
        switch news {
        case .answered(let url): note(id, answeredURL: url)
        case .refused: noteRefusal(id)
        case .adoptedWrongly: refuseAdoption(id)
        case .dividedWrongly: traces[id, default: Trace()].dividesNothing = true
        case .mixedWrongly: traces[id, default: Trace()].mixesNothing = true
        }
    }

    /// Whether an attempt brought a job further than any before it: one that loses what it had, and begins anew each time,
    /// doesn't get on.
    mutating func cameFurther(_ id: Int64, from start: Int64, to position: Int64) -> Bool {
        guard ProgressRule.isProgress(position - (traces[id]?.reached ?? start)) else { return false }
        traces[id, default: Trace()].reached = position
        return true
    }

    /// The bytes of the job came from this URL.
    mutating func note(_ id: Int64, answeredURL url: String) {
        // The record has a URL without secrets, so that it needn't be kept here.
        traces[id, default: Trace()].answeredURL = Redaction.hasSecret(url) ? url : nil
        traces[id]?.refusals = 0
        traces[id]?.wasRefusedElsewhere = false
    }

    /// Whether a refusal by a URL that a redirect led to is no last word yet: once, as the next redirect may lead elsewhere.
    mutating func asksOwnURLAgain(_ id: Int64) -> Bool {
        guard traces[id]?.wasRefusedElsewhere != true else { return false }
        traces[id, default: Trace()].wasRefusedElsewhere = true
        return true
    }

    /// The URL that the bytes came from has answered, and not by more of them.
    mutating func noteRefusal(_ id: Int64) { traces[id, default: Trace()].refusals += 1 }

    /// Whether the URL that the bytes came from is asked before the job's own: not where it gives nothing again and again,
    /// as a machine does that was taken out of service behind its gateway.
    func asksPlace(_ id: Int64) -> Bool { (traces[id]?.refusals ?? 0) < ResumeDoubt.confirmations }

    func answeredURL(of id: Int64) -> String? { traces[id]?.answeredURL }

    mutating func refuseAdoption(_ id: Int64) { traces[id, default: Trace()].adoptsNothing = true }

    func mayAdopt(_ id: Int64) -> Bool { traces[id]?.adoptsNothing != true }

    func mayMix(_ id: Int64) -> Bool { traces[id]?.mixesNothing != true }

    /// Whether several connections may fetch its file.
    func mayDivide(_ id: Int64) -> Bool { traces[id]?.dividesNothing != true }

    mutating func keep(_ sources: SourceStatistics, of id: Int64) { traces[id, default: Trace()].sources = sources }

    func sources(of id: Int64) -> SourceStatistics { traces[id]?.sources ?? SourceStatistics() }

    mutating func forget(_ id: Int64) { traces[id] = nil }
}
