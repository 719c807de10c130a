/// One result of the reader of another tool's list.
package enum ListFinding: Sendable {
    case job(ListDraft)
    /// An entry that is no job, or a line that cannot be read.
    case fault(JobFileFault)
    /// An option that has no effect here, and without which the job is the same.
    case leftOut(String, line: Int)
}

/// The result of applying an option of a list.
package enum ListVerdict: Sendable {
    case taken
    case leftOut
    /// The option was accepted, except for the part named here.
    case takenWithout(String)
    /// The option was refused, since the job would differ without it; the text gives the reason and an alternative.
    case refused(String)
}
